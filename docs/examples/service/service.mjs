// A web service whose config comes from files, the environment and secrets, and follows its files.
//
//   node service.mjs
//   NODE_ENV=production APP_SERVER__PORT=80 node service.mjs
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { isConfigError, renderError, watchConfig } from "hydraconf";
import { dotenv, environment, secretFiles } from "hydraconf/sources";

const schema = {
  properties: {
    server: {
      additionalProperties: false,
      properties: {
        host: { type: "string" },
        port: { type: "integer", minimum: 0, maximum: 65535 },
      },
    },
    db: { properties: { password: { type: "string", writeOnly: true } } },
    greeting: { type: "string" },
  },
};

/** @param {{ cwd?: string, env?: Record<string, string | undefined>, secrets?: string, log?: (line: string) => void }} [around] */
export async function start({
  cwd = fileURLToPath(new URL(".", import.meta.url)),
  env = process.env,
  secrets = "/run/secrets",
  log = console.log,
} = {}) {
  const watched = await watchConfig(
    {
      cwd,
      env,
      configDir: "conf",
      configName: "config",
      schema,
      layers: [
        dotenv(),
        environment({ prefix: "APP_" }),
        secretFiles({ directory: secrets, table: { db_password: "db.password" } }),
      ],
    },
    {
      onChange: ({ differences }) =>
        log(`changed: ${differences.map(({ path }) => path.join(".")).join(", ")}`),
      onError: (error) => log(isConfigError(error) ? renderError(error) : String(error)),
    },
  );
  const http = createServer((request, response) => {
    const { config } = watched;
    if (request.url === "/config") response.end(config.toYaml({ resolve: true }));
    else response.end(`${config.get("greeting")}\n`);
  });
  try {
    // What is wrong or missing is told at the start, and not by the first request.
    const { server } = watched.config.toObject({ resolve: true });
    await new Promise((resolve, reject) => {
      http.once("error", reject).listen(server.port, server.host, resolve);
    });
    log(`listens on ${server.host}:${http.address().port}`);
  } catch (error) {
    // What watches files keeps the process.
    watched.close();
    throw error;
  }
  return {
    port: http.address().port,
    close: () => {
      watched.close();
      http.close();
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  start().catch((error) => {
    console.error(isConfigError(error) ? renderError(error) : error);
    process.exitCode = 1;
  });

// Each line below a comment `// refused: TEXT` is refused by the compiler, with that text in its message.

import { compose, createEngine, hydraMain } from "hydraconf";
import { z } from "zod";

const tree = { configDir: "conf", configName: "config" } as const;
const config = compose(tree);
// refused: Argument of type '"db.prot"' is not assignable
config.get("db.prot");
// refused: Argument of type '"layers.size"' is not assignable
config.get("layers.size");
// refused: Cannot assign to 'lr' because it is a read-only property
config.toObject().lr = 3;
// refused: Property 'push' does not exist on type 'readonly
config.toObject().layers.push({ size: 1 });
// refused: Type 'number' is not assignable to type 'string'
const port: string = config.get("db.port");
// refused: Did you mean '"db=mysql"'?
compose({ ...tree, overrides: ["db=mysq"] });
// refused: Did you mean '"db.port=1"'?
compose({ ...tree, overrides: ["lr=1", "db.prt=1"] });
// refused: Did you mean '"name=x"'?
compose({ ...tree, overrides: ["nmae=x"] });
// refused: Did you mean '"+model/arch=small"'?
compose({ ...tree, overrides: ["+model/arch=smal"] });
// refused: Did you mean '"db@backup=pg"'?
createEngine().compose({ ...tree, overrides: ["db@backup=pgg"] });
// refused: 'unknownOption' does not exist
compose({ ...tree, unknownOption: 1 });
// refused: Type 'unknown' is not assignable to type 'number'
const unknown: number = compose({ configDir: "elsewhere", configName: "config" }).get("a");
// refused: is of type 'unknown'
compose({ configDir: "elsewhere" }).toObject().a;
// refused: Argument of type '"port.x"' is not assignable
compose({ schema: z.object({ port: z.number() }) }).get("port.x");
// refused: Type 'number' is not assignable to type 'string'
await hydraMain({ ...({ configPath: "conf", configName: "config" } as const) }, (settings) => {
  const lr: string = settings.get("lr");
});
// refused: Argument of type '"prot"' is not assignable
compose({ schema: { type: "object", properties: { port: { type: "integer" } } } }).get("prot");

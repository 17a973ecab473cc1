import { bash } from "./bash.ts";
import { fish } from "./fish.ts";
import type { Shell } from "./shell.ts";
import { zsh } from "./zsh.ts";

export const SHELLS: readonly Shell[] = [bash, zsh, fish];

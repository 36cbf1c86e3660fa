import type { Command } from "commander";

/** `--cwd`, which belongs to the program and goes for every command. */
export function cwdOf(program: Command): { readonly cwd?: string } {
  const { cwd } = program.opts<{ cwd?: string }>();
  return cwd === undefined ? {} : { cwd };
}

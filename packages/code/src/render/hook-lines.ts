import type { ListedHook } from "../trust/listed-hooks.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

export interface HookLinesOptions {
  readonly style: Style;
  /** The name by which the person calls this program. */
  readonly command: string;
  /** The path of a file as a person reads it. */
  shownFile(file: string): string;
}

/** Two lines for each hook: when it runs and what it runs, then where it is from and whether it is used. */
export function hookLines(hooks: readonly ListedHook[], { style, command, shownFile }: HookLinesOptions): readonly string[] {
  if (hooks.length === 0)
    return ["There are no hooks. Write them into settings.json, as hooks, or into .keelson/hooks.json of the project."];
  return hooks.flatMap(({ when, command: line, args = [], file, state, path }) => {
    const mark = state === "untrusted" ? style.yellow("–") : style.green("✔");
    const words = {
      own: "yours",
      trusted: "trusted",
      untrusted: `not trusted: ${command} trust accept ${printableLine(path ?? "")}`,
    }[state];
    return [
      `${mark} ${style.bold(printableLine(when))}  ${printableLine([line, ...args].join(" "))}`,
      style.dim(`  ${printableLine(shownFile(file))} · ${words}`),
    ];
  });
}

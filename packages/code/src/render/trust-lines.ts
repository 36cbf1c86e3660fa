import type { ProjectItem } from "../trust/project-item.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

const KINDS: { readonly [K in ProjectItem["kind"]]: string } = {
  instructions: "instructions to the agent",
  hooks: "commands that would run",
  server: "an MCP server",
  settings: "settings that run commands or allow more",
};
const SHOWN_LINES = 12;

/** What a project brings, with what each of it would run or say. */
export function trustLines(
  items: readonly ProjectItem[],
  { style, all = false }: { readonly style: Style; readonly all?: boolean },
): readonly string[] {
  return items.flatMap(({ kind, path, digest, shows }) => {
    const shown = all ? shows : shows.slice(0, SHOWN_LINES);
    const left = shows.length - shown.length;
    return [
      `${style.bold(printableLine(path))} ${style.dim(`· ${KINDS[kind]} · sha256 ${digest.slice(0, 12)}`)}`,
      ...shown.map((line) => `  ${printableLine(line)}`),
      ...(left > 0 ? [style.dim(`  … ${left} more lines`)] : []),
    ];
  });
}

/** Confirms what was trusted. */
export function trustedLine(items: readonly Pick<ProjectItem, "path">[]): string {
  return `trusted, as ${items.length === 1 ? "it is" : "they are"} now: ${items.map(({ path }) => printableLine(path)).join(", ")}`;
}

/** One line for what was left out, and how to have it used. */
export function leftOutLine(items: readonly Pick<ProjectItem, "path">[], use: string): string {
  const paths = items.map(({ path }) => printableLine(path)).join(", ");
  return `left out, since nobody trusts ${items.length === 1 ? "it as it is" : "them as they are"}: ${paths}. To use ${items.length === 1 ? "it" : "them"}: ${use}`;
}

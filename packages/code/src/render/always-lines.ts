import type { AlwaysChoice } from "@keelson/protocol";
import { printable } from "../text/printable.ts";
import type { ToolViewOptions } from "./tool-view.ts";
import { wrapped } from "../text/wrapped.ts";

const SCOPES: { readonly [S in AlwaysChoice["scope"]]: string } = {
  exact: "exactly this",
  folder: "edits in this folder",
  edits: "accept edits from now on",
  command: "this program and subcommand",
  tool: "every call of this tool",
  outside: "exactly this, outside of the sandbox",
  host: "connections of every command to this host",
  port: "this port on your machine",
  reveal: "this hidden file for every command",
  lose: "the loss of these files by every command",
};

const ANY_WORDS = `${SCOPES.command} with any words, even those that run programs`;
const INDENT = "     ";

/** The rules that *always* offers, numbered, each as it will be kept. */
export function alwaysLines(choices: readonly AlwaysChoice[], { style, columns }: ToolViewOptions): string[] {
  return choices.flatMap(({ scope, rules }, index) => [
    `  ${style.bold(`${index + 1}`)}  ${style.dim(scope === "command" && rules.some((rule) => rule.endsWith("**)")) ? ANY_WORDS : SCOPES[scope])}`,
    ...rules.flatMap((rule) =>
      printable(rule)
        .split("\n")
        .flatMap((line) => wrapped(line, columns - INDENT.length))
        .map((row) => `${INDENT}${row}`),
    ),
  ]);
}

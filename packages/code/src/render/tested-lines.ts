import type { TestedServer } from "../servers/test-server.ts";
import { truncated } from "../text/display-width.ts";
import { formatDuration } from "./figures.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

const MAX_WORDS = 100;

/** That a server was connected and how long that took, then a line for each tool, and what of it is left out. */
export function testedLines(
  { server, protocolVersion, connectMs, listMs, tools, problems }: TestedServer,
  style: Style,
): readonly string[] {
  const revision = protocolVersion === undefined ? "" : ` (revision ${printableLine(protocolVersion)})`;
  const width = Math.max(0, ...tools.map(({ name }) => name.length));
  return [
    `${style.green("✔")} connected to ${style.bold(printableLine(server))} in ${formatDuration(connectMs)}${revision}; ${tools.length} ${tools.length === 1 ? "tool" : "tools"} in ${formatDuration(listMs)}`,
    ...tools.map(
      ({ name, effect, risk, description }) =>
        `  ${name.padEnd(width)}  ${effect} · ${risk}  ${style.dim(truncated(printableLine(description), MAX_WORDS))}`,
    ),
    ...problems.map((problem) => style.yellow(`! ${printableLine(problem)}`)),
  ];
}

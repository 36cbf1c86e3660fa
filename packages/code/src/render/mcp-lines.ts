import type { ServerState, ServerStates } from "../servers/servers-of-runs.ts";
import { printable, printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { serverLines } from "./server-lines.ts";

export interface McpLinesOptions {
  readonly style: Style;
  /** The name by which the person calls this program. */
  readonly command: string;
}

const MOST_NAMES = 12;

/** The configured servers: how each is reached, its state, its tools, and what to do about one that is not connected. */
export function mcpLines({ servers, problems }: ServerStates, { style, command }: McpLinesOptions): readonly string[] {
  const lines = serverLines(
    servers.map(({ server }) => server),
    { style, command },
  );
  if (servers.length === 0) return [...lines, ...problemLines(problems, style)];
  return [
    ...servers.flatMap((state, index) => [lines[index] ?? "", ...stateLines(state, { style, command })]),
    ...problemLines(problems, style),
    style.dim("/mcp <name> shows the tools of a server, and all of its problems"),
  ];
}

/** The tools of one server with their descriptions. */
export function mcpToolLines({ server, status, tools }: ServerState, { style, command }: McpLinesOptions): readonly string[] {
  const name = style.bold(printableLine(server.name));
  if (tools === undefined || tools.length === 0)
    return [
      `${name}: no tools are known`,
      ...(status === undefined ? [] : stateLines({ server, status }, { style, command, isWhole: true })),
    ];
  return [
    `${name}: ${tools.length === 1 ? "1 tool" : `${tools.length} tools`}`,
    ...tools.map((tool) => `  ${printableLine(tool.name)}  ${style.dim(firstSentence(tool.description))}`),
  ];
}

interface StateLinesOptions extends McpLinesOptions {
  /** True if problems are shown with all of their lines. Default: with their first ones. */
  readonly isWhole?: boolean;
}

function stateLines({ server, status, tools }: ServerState, { style, command, isWhole = false }: StateLinesOptions): readonly string[] {
  if (status === undefined) return [];
  const version = status.protocolVersion === undefined ? "" : ` (protocol ${printableLine(status.protocolVersion)})`;
  const isHttp = server.config.type === "http" || server.config.type === "sse";
  const isConnected = status.state === "connected";
  const shown = tools?.slice(0, MOST_NAMES).map(({ name }) => printableLine(name)) ?? [];
  const more = (tools?.length ?? 0) - shown.length;
  const names = shown.length === 0 ? "no tools are known" : `tools: ${shown.join(", ")}${more > 0 ? `, … ${more} more` : ""}`;
  return [
    `  ${isConnected ? style.green(status.state) : style.yellow(status.state)}${version}${isConnected ? ` · ${names}` : ""}`,
    ...(status.problems ?? []).flatMap((problem) => {
      const [first = "", ...rest] = printable(problem).trimEnd().split("\n");
      const shown = isWhole ? [first, ...rest] : [rest.length === 0 ? first : `${first} …`];
      return shown.map((line) => style.yellow(`  ${line}`));
    }),
    ...(isConnected
      ? []
      : [
          style.dim(
            `  ${isHttp ? `log in: ${command} mcp login ${printableLine(server.name)} · ` : ""}try it: ${command} mcp test ${printableLine(server.name)}`,
          ),
        ]),
  ];
}

function problemLines(problems: ServerStates["problems"], style: Style): readonly string[] {
  return problems.map(({ message }) => style.yellow(`! ${printableLine(message)}`));
}

function firstSentence(text: string): string {
  const [first = ""] = printableLine(text).split(/(?<=\.)\s|⏎/, 1);
  return first.length > 120 ? `${first.slice(0, 119)}…` : first;
}

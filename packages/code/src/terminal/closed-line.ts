import { withoutTabs } from "../text/display-width.ts";

const RESET = "\u001b[0m";
const LINK = "\u001b]8;";
const END_OF_LINK = "\u001b]8;;\u0007";

/** Returns a painted line without tabs whose colours and links end with it, so that they reach no other line. */
export function closedLine(line: string): string {
  if (!line.includes("\u001b")) return withoutTabs(line);
  return `${withoutTabs(line)}${line.includes(LINK) ? END_OF_LINK : ""}${line.endsWith(RESET) ? "" : RESET}`;
}

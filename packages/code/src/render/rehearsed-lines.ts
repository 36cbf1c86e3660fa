import type { RehearsedSession } from "keelson";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

/** A line for each session, with what somebody should do where it is not safe; then how many there are. */
export function rehearsedLines(rehearsed: readonly RehearsedSession[], style: Style): string[] {
  const lines = rehearsed.map(({ session, verdict, reason, seq, action, isSafe }) => {
    const mark = isSafe ? style.green("✔") : style.red("✗");
    const todo = isSafe || action === undefined ? "" : ` ${action}`;
    return `${mark} ${session}  ${verdict}: ${printableLine(`${reason}${seq === undefined ? "" : ` (record ${seq})`}${/[.!?]$/.test(reason) ? "" : "."}${todo}`)}`;
  });
  const unsafe = rehearsed.filter(({ isSafe }) => !isSafe).length;
  const count = `${rehearsed.length} ${rehearsed.length === 1 ? "session" : "sessions"} with an open run`;
  return [
    ...lines,
    unsafe === 0 ? `${style.green("✔")} ${count}: this build goes on with all of them` : `${count}: ${unsafe} would not go on`,
  ];
}

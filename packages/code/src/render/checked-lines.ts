import type { CheckedStores } from "../commands/check-sessions.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

export function checkedProblems({ database, sessions }: CheckedStores): number {
  return database.length + sessions.reduce((count, { problems }) => count + problems.length, 0);
}

/** What is wrong, with its session, and how much was looked at. */
export function checkedLines(checked: CheckedStores, style: Style): string[] {
  const { database, sessions } = checked;
  const lines = database.map((problem) => `${style.red("✗")} database: ${printableLine(problem)}`);
  for (const { session, problems } of sessions)
    for (const problem of problems) lines.push(`${style.red("✗")} ${session}: ${printableLine(problem)}`);
  const records = sessions.reduce((count, session) => count + session.records, 0);
  const count = checkedProblems(checked);
  const looked = `${sessions.length} ${sessions.length === 1 ? "session" : "sessions"} with ${records} records`;
  lines.push(
    count === 0 ? `${style.green("✔")} ${looked}: nothing is damaged` : `${looked}: ${count} ${count === 1 ? "problem" : "problems"}`,
  );
  return lines;
}

import type { RepairedSession } from "../commands/repair-session.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

/** What was wrong, what was kept and dropped, and where to go on. */
export function repairedLines({ session, problems, repaired, kept, dropped }: RepairedSession, style: Style): string[] {
  if (problems.length === 0) return [`${style.green("✔")} ${session}: nothing is damaged, and nothing was changed`];
  const lines = problems.map((problem) => `${style.red("✗")} ${session}: ${printableLine(problem)}`);
  if (repaired === undefined)
    return [
      ...lines,
      `No record before the damage can be read: there is nothing to repair it from. Restore the database from a backup. ${session} was left as it is.`,
    ];
  const without = dropped === 0 ? "without what is damaged beside them" : `without the ${dropped} from record ${kept + 1} on`;
  return [
    ...lines,
    `repaired: ${repaired} has the first ${kept} records, ${without}`,
    `${session} was left as it is, with all that it holds.`,
  ];
}

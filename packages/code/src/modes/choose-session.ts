import type { ListedSession } from "../core/listed-session.ts";
import type { CommandHost } from "../core/command-host.ts";
import { truncated } from "../text/display-width.ts";
import { openScreen } from "../terminal/open-screen.ts";
import { sessionLines } from "../render/session-lines.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import { askPerson } from "./ask-person.ts";

// As many as are told from each other at a glance; older ones are found by their ids.
const MAX_SHOWN = 9;

/**
 * Has a person choose one of these sessions by its number or its id, line by line, as a screen reader needs it.
 * @param describe returns one more line about a session that is shown
 * @returns `undefined` when they leave without choosing
 */
export async function chooseSession(
  sessions: readonly ListedSession[],
  describe: (session: ListedSession) => Promise<string | undefined>,
  { stdin, stdout, environment, now }: Pick<CommandHost, "stdin" | "stdout" | "environment" | "now">,
): Promise<string | undefined> {
  const style = createStyle(wantsColors(stdout, environment));
  const screen = openScreen(stdout, { environment, screenReader: true });
  const shown = sessions.slice(0, MAX_SHOWN);

  const blocks: string[] = [];
  for (const [index, session] of shown.entries()) {
    const more = await describe(session);
    const lines = [
      ...sessionLines(session, { style, columns: screen.columns - 3, now: now() }),
      ...(more === undefined ? [] : [style.dim(truncated(`  ${more}`, screen.columns - 3))]),
    ];
    blocks.push(...lines.map((line, at) => `${at === 0 ? style.bold(`${index + 1}`) : " "}  ${line}`));
  }
  screen.block(blocks);
  if (sessions.length > shown.length) screen.block([style.dim(`… ${sessions.length - shown.length} older ones`)]);

  return askPerson<string | undefined>(
    {
      prompt: shown.length === 1 ? "continue [1], or leave with Enter › " : `continue [1-${shown.length}], or leave with Enter › `,
      read(line, choose) {
        const given = line.trim();
        if (given === "") return choose(undefined);
        // One digit is always a number: whoever missed the one that they meant must not get the session whose id begins with it.
        const named = /^\d$/.test(given)
          ? shown.slice(Number(given) - 1, Number(given))
          : sessions.filter(({ id }) => id.startsWith(given));
        const session = named.length === 1 ? named[0] : undefined;
        if (session !== undefined) return choose(session.id);
        screen.block([
          style.yellow(`${named.length === 0 ? "none" : `${named.length} sessions`} of these: give a number, or more of an id`),
        ]);
      },
      otherwise: undefined,
    },
    { screen, stdin, isSpoken: true },
  );
}

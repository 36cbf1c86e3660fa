import type { ListedSession } from "../core/listed-session.ts";
import { createSessionPicker } from "../pickers/session-picker.ts";
import { sessionLines } from "../render/session-lines.ts";
import type { Prompt, SlashCommand, SlashOutput } from "./slash-command.ts";

export interface SwitchCommandsOptions {
  /** Ends this session and begins another. The former one is kept. */
  begin(): Promise<SlashOutput>;
  /** Continues a session. @param id the whole id, or its beginning */
  open(id: string): Promise<SlashOutput>;
  /** Copies this session, and goes on in the copy. */
  fork(): Promise<SlashOutput>;
  /** The sessions of this folder, newest first. */
  sessions(): Promise<readonly ListedSession[]>;
  /** The sessions of every folder. */
  everywhere(): Promise<readonly ListedSession[]>;
  /** The folder and the id of the session that is open; no id before its first message. */
  current(): { readonly folder: string; readonly id: string | undefined };
  readonly userHome: string;
  /** Unix ms. */
  now(): number;
}

/** Said of commands that need a session in which nothing runs. */
export const BUSY = "The agent is still working. Press Esc to stop it, then try again.";

const MOST_LISTED = 10;

/** The commands that leave the session for another one. */
export function switchCommands(options: SwitchCommandsOptions): readonly SlashCommand[] {
  const { begin, open, fork, sessions } = options;
  const whenIdle = async ({ run, style }: Prompt, act: () => Promise<SlashOutput>): Promise<SlashOutput> =>
    run === undefined ? act() : [style.yellow(BUSY)];
  return [
    {
      name: "clear",
      aliases: ["new"],
      description: "begin a new session; this one is kept",
      group: "conversation",
      execute: (_argument, prompt) => whenIdle(prompt, begin),
    },
    {
      name: "resume",
      argumentHint: "[session]",
      description: "continue another session",
      group: "conversation",
      complete: async (argument) =>
        (await sessions())
          .filter(({ id }) => id.startsWith(argument))
          .map(({ id, firstWords }) => ({ value: id, ...(firstWords !== undefined && { description: firstWords }) })),
      execute: (id, prompt) => whenIdle(prompt, () => (id === "" ? pick(prompt, options) : open(id))),
    },
    {
      name: "fork",
      description: "copy this session and continue in the copy",
      group: "conversation",
      execute: (_argument, prompt) => whenIdle(prompt, fork),
    },
    {
      name: "sessions",
      description: "list the sessions of this folder and of others, and continue one",
      group: "conversation",
      execute: (_argument, prompt) => (prompt.run === undefined ? pick(prompt, options) : list(prompt, options)),
    },
  ];
}

async function pick(prompt: Prompt, options: SwitchCommandsOptions): Promise<SlashOutput> {
  const { choose } = prompt;
  if (choose === undefined) return list(prompt, options);
  const { open, sessions, everywhere, current, userHome, now } = options;
  const { folder, id } = current();
  const listed = await sessions();
  const chosen = await choose<string>((opened) =>
    createSessionPicker({ ...opened, folder, sessions: listed, everywhere, current: id, userHome, now }),
  );
  return chosen === undefined || chosen === id ? undefined : open(chosen);
}

async function list({ style, columns }: Prompt, { sessions, now }: SwitchCommandsOptions): Promise<SlashOutput> {
  const listed = await sessions();
  if (listed.length === 0) return ["There are no sessions of this folder yet."];
  return [
    ...listed.slice(0, MOST_LISTED).flatMap((one) => sessionLines(one, { style, columns, now: now() })),
    ...(listed.length > MOST_LISTED ? [style.dim(`… ${listed.length - MOST_LISTED} older ones`)] : []),
    style.dim("/resume and an id, or its beginning, goes on with one"),
  ];
}

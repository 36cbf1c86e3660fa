import type { Command } from "commander";
import type { CommandLine, SessionsAction } from "./command-line.ts";
import { cwdOf } from "./cwd-of.ts";
import { positiveInteger, RUN_STATES, runStatus, wholeNumber } from "./option-values.ts";
import { parseAge } from "./parse-age.ts";
import { parseSince, type Since } from "./parse-since.ts";
import { parseSize } from "./parse-size.ts";
import { UsageError } from "./usage-error.ts";

/** `keelson sessions` and its actions. */
export function addSessions(program: Command, accept: (command: CommandLine) => void): void {
  const sessions = program.command("sessions").description("list and change sessions");
  const add = <Arguments extends readonly unknown[]>(
    name: string,
    description: string,
    action: (options: { readonly [name: string]: unknown }, ...values: Arguments) => SessionsAction,
  ): Command =>
    sessions
      .command(name)
      .description(description)
      .option("--json", "print JSON")
      .action((...given: unknown[]) => {
        const options = given.at(-2) as { readonly [name: string]: unknown };
        accept({
          type: "sessions",
          action: action(options, ...(given.slice(0, -2) as readonly unknown[] as Arguments)),
          json: options["json"] === true,
          ...cwdOf(program),
        });
      });

  add("list", "the sessions of this folder, newest first", (options) => {
    const { all, agent, tag, state, since } = options as { all?: true; agent?: string; tag?: string; state?: string; since?: Since };
    return {
      type: "list",
      all: all === true,
      ...(agent !== undefined && { agent }),
      ...(tag !== undefined && { tag }),
      ...(state !== undefined && { state: runStatus(state, "--state") }),
      ...(since !== undefined && { since }),
    };
  })
    .option("-a, --all", "of every folder")
    .option("--agent <name>", "those whose newest run was of this agent")
    .option("--tag <tag>", "those that have this tag")
    .option("--state <state>", `those whose newest run is ${RUN_STATES.join(", ")}`)
    .option("--since <time>", "those that changed since then: a date, as in 2026-11-20, or an age, as in 7d", (text) =>
      parseSince(text, "--since"),
    );
  add<[string[]]>("search <text...>", "the messages, calls and results of all sessions that have all of these words", (options, text) => {
    const { session, limit } = options as { session?: string; limit?: number };
    return { type: "search", text: text.join(" "), ...(session !== undefined && { session }), ...(limit !== undefined && { limit }) };
  })
    .option("--session <session>", "only in this one")
    .option("--limit <n>", "so many at most; default 20", (text) => positiveInteger(text, "--limit"));
  add<[string]>("show <session>", "its facts and conversation", (_, id) => ({ type: "show", id }));
  add<[string]>("fork <session>", "a copy to go on in", (options, id) => {
    const { name, turn, at: seq } = options as { name?: string; turn?: number; at?: number };
    if (turn !== undefined && seq !== undefined)
      throw new UsageError("sessions fork takes --turn or --at, not both", "Give the end of a turn, or the number of a record.");
    return {
      type: "fork",
      id,
      ...(name !== undefined && { name }),
      ...(turn !== undefined && { turn }),
      ...(seq !== undefined && { seq }),
    };
  })
    .option("--name <name>", "name of the copy")
    .option("--turn <n>", "copy up to the end of this turn", (text) => wholeNumber(text, "--turn"))
    .option("--at <record>", "copy up to this record, as search names it", (text) => positiveInteger(text, "--at"));
  add<[string, string]>("rewind <session> <turn>", "go back to the end of a turn", (options, id, turn) => {
    const { files, filesOnly, unclear } = options as { files?: true; filesOnly?: true; unclear?: true };
    if (unclear && !files && !filesOnly)
      throw new UsageError("--unclear is about files", "Add --files, to rewind the files as well, or --files-only.");
    return {
      type: "rewind",
      id,
      turn: wholeNumber(turn, "turn"),
      ...((files || filesOnly) && { rewinds: filesOnly ? "files" : "both" }),
      ...(unclear && { takesUnclear: true }),
    };
  })
    .option("--files", "undo the changes of files since then as well; what others changed since is left as it is")
    .option("--files-only", "undo the changes of files alone, and leave the conversation")
    .option("--unclear", "also changes that may be those of others: after a crash, or beside a long command in the background");
  add<[string, string[]]>(
    "compact <session> [keep...]",
    "shorten its conversation before the next turn; a summary keeps what you name",
    (_, id, keep) => ({
      type: "compact",
      id,
      ...(keep.length > 0 && { keep: keep.join(" ") }),
    }),
  );
  add<[string, string]>("rename <session> <name>", "give it a name", (_, id, name) => ({ type: "rename", id, name }));
  add<[string, string[]]>("tag <session> <tags...>", "add tags to it", (_, id, tags) => ({ type: "tag", id, tags }));
  add<[string]>("delete <session>", "delete it for good", (_, id) => ({ type: "delete", id }));
  add<[string, string]>(
    "export <session> <file>",
    "write it to a new file as lines of JSON, in plain text; - is standard output",
    (_, id, file) => ({
      type: "export",
      id,
      file,
    }),
  );
  add<[string]>("import <file>", "take over an exported session, once every line of the file is sound", (options, file) => {
    const { as } = options as { as?: string };
    return { type: "import", file, ...(as !== undefined && { as }) };
  }).option("--as <session>", "under this id");
  add<[string | undefined]>(
    "rehearse [session]",
    "what this build would come to with every session that has an open run, or one; writes nothing",
    (_, session) => ({ type: "rehearse", ...(session !== undefined && { session }) }),
  );
  add<[string | undefined]>("check [session]", "look for damage in the database and in all sessions, or one", (_, session) => ({
    type: "check",
    ...(session !== undefined && { session }),
  }));
  add<[string]>("repair <session>", "make a session of what stands before its damage; the damaged one stays", (_, id) => ({
    type: "repair",
    id,
  }));
  add<[]>(
    "prune",
    "delete sessions that are old or do not fit, and keep idle ones in less space; never deletes one that is open, waits or has forks",
    (options) => {
      const { olderThan, maxSize, sealAfter, archive, dryRun } = options as {
        olderThan?: string;
        maxSize?: string;
        sealAfter?: string;
        archive?: string;
        dryRun?: boolean;
      };
      if (olderThan === undefined && maxSize === undefined && sealAfter === undefined)
        throw new UsageError(
          "sessions prune needs to know what may go, or become smaller",
          "Give --older-than, as in 30d, --max-size, as in 2G, --seal-after, as in 7d, or several of them.",
        );
      return {
        type: "prune",
        ...(olderThan !== undefined && { maxAgeMs: parseAge(olderThan, "--older-than") }),
        ...(maxSize !== undefined && { maxBytes: parseSize(maxSize, "--max-size") }),
        ...(sealAfter !== undefined && { sealAfterMs: parseAge(sealAfter, "--seal-after") }),
        ...(archive !== undefined && { archive }),
        dryRun: dryRun === true,
      };
    },
  )
    .option("--older-than <age>", "those in which nothing happened for so long, as in 36h, 30d, 8w")
    .option("--max-size <size>", "the oldest of those that come to more together, as in 500M, 2G")
    .option("--seal-after <age>", "compress those in which nothing happened for so long; they are read as before")
    .option("--archive <folder>", "export each to this folder before it goes")
    .option("--dry-run", "only say what would go; compresses nothing");
}

import type { AgentEvent, Tool } from "@keelson/protocol";
import { toolFailure } from "../tools/call-files.ts";
import type { Run, SingleRunner } from "keelson";
import { redactError, redactTools, type Redactor, type TextRedaction } from "keelson/security";
import type { KnownSecrets } from "./known-secrets.ts";

/** Tools with a text that is written to files. */
const WRITING: ReadonlySet<string> = new Set(["apply_patch", "edit_file", "search_replace", "write_file"]);

/**
 * The same tools, with secrets taken out of their results. Those that write files refuse texts with the mark that replaces a secret, because the
 * file would lose the secret.
 */
export function withoutSecretValues<Context>(
  tools: readonly Tool<unknown, Context>[],
  secrets: KnownSecrets,
): readonly Tool<unknown, Context>[] {
  return redactTools(
    tools.map((tool) => (WRITING.has(tool.name) ? refusingMarks(tool, secrets) : tool)),
    secrets.redactor,
  );
}

function refusingMarks<Context>(tool: Tool<unknown, Context>, secrets: KnownSecrets): Tool<unknown, Context> {
  return {
    ...tool,
    async execute(input, call) {
      const given = JSON.stringify(input);
      const mark = [...secrets.names()].map((name) => `[REDACTED:${name}]`).find((text) => given.includes(text));
      if (mark !== undefined)
        throw toolFailure(
          tool.name,
          `${mark} stands for a secret that is not shown to you; it is no text of the file. Choose a part of the file beside it, and leave the secret as it is.`,
        );
      return tool.execute(input, call);
    },
  };
}

/** The same runner, with secrets taken out of the events and outcomes of its runs. */
export function withoutSecretEvents(runner: SingleRunner, redactor: Redactor): SingleRunner {
  return membersOver(runner, {
    run: (...given: Parameters<SingleRunner["run"]>) => redactRun(runner.run(...given), redactor),
    resume: async (...given: Parameters<SingleRunner["resume"]>) => redactRun(await runner.resume(...given), redactor),
  });
}

function redactRun<Out>(run: Run<Out>, redactor: Redactor): Run<Out> {
  const outcome = run.outcome.then((value) => {
    const { error, ...rest } = value;
    const redacted = redactor.redactJson(rest);
    return error === undefined ? redacted : { ...redacted, error: redactError(error, redactor) };
  }) as Run<Out>["outcome"];
  return membersOver(run, {
    outcome,
    events: (...given: Parameters<Run["events"]>) => redactEvents(run.events(...given), redactor),
    [Symbol.asyncIterator]: () => redactEvents(run, redactor),
  });
}

/** An object with these members in the place of its own, which keep to the object itself. */
function membersOver<T extends object>(object: T, members: { readonly [name: string | symbol]: unknown }): T {
  return new Proxy(object, {
    get(target, name) {
      if (Object.hasOwn(members, name)) return members[name as string];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}

type Delta = Extract<AgentEvent, { readonly type: "text-delta" | "thinking-delta" | "tool-call-delta" }>;

/**
 * Events as they come. A text that streams is held back only where its end may be the beginning of a secret; what is left of it comes as one
 * more piece before the event that ends it.
 */
async function* redactEvents(events: AsyncIterable<AgentEvent>, redactor: Redactor): AsyncGenerator<AgentEvent> {
  let open: { readonly redaction: TextRedaction; readonly key: string; delta: Delta } | undefined;
  const finish = function* (): Generator<AgentEvent> {
    const rest = open?.redaction.end() ?? "";
    if (open !== undefined && rest !== "") yield { ...open.delta, text: rest };
    open = undefined;
  };
  for await (const event of events) {
    if (event.type !== "text-delta" && event.type !== "thinking-delta" && event.type !== "tool-call-delta") {
      yield* finish();
      yield redactor.redactJson(event);
      continue;
    }
    const key = `${event.runId} ${event.type} ${event.attempt} ${"callId" in event ? event.callId : ""}`;
    if (open?.key !== key) {
      yield* finish();
      open = { redaction: redactor.stream(), key, delta: event };
    }
    open.delta = event;
    const text = open.redaction.push(event.text);
    if (text !== "" || event.text === "") yield { ...event, text };
  }
  yield* finish();
}

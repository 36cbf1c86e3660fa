import {
  AgentError,
  isSuspendReason,
  type AgentEvent,
  type Decision,
  type JsonObject,
  type JsonValue,
  type ToolAnswer,
  type ToolQuestion,
  type Wait,
} from "@keelson/protocol";
import type { Run, RunOutcome } from "../../agent/index.ts";
import { shortHash } from "../../json/index.ts";
import { randomId } from "../../json/random-id.ts";
import { compileSchema } from "../../schema/index.ts";
import { describeMissingOutput } from "../../tools/has-output.ts";
import type { McpRequest } from "./mcp-request.ts";
import type { ServedAgent, ServedRunner } from "./mcp-server-options.ts";
import type { Round } from "./rounds.ts";
import type { ServedTool } from "./served-tool.ts";
import { mayUseSession, sessionPrefix, type SessionAccess } from "./session-access.ts";
import { wireFailure, type WireResult } from "./wire-result.ts";

type Question = Extract<Wait, { readonly type: "approval" | "decision" }>;

/** A run as a tool: a task in, its output out. What the run asks goes to the person at the client. */
export function agentTool(served: ServedAgent, runner: ServedRunner, access: SessionAccess): ServedTool {
  const { agent, limits, model, metadata } = served;

  async function begin(task: string | undefined, session: string | undefined, round: Round): Promise<Run<unknown>> {
    const { request } = round.open;
    const kept = round.kept["session"];
    if (typeof kept === "string") return await runner.resume(kept);
    if (session !== undefined && task === undefined) return await runner.resume(session);
    return runner.run(task ?? "", {
      agent: agent.name as never,
      session: session ?? (await served.newSession?.(request)) ?? `${sessionPrefix(request)}${randomId()}`,
      ...(limits !== undefined && { limits }),
      ...(model !== undefined && { model }),
      ...(metadata !== undefined && { metadata }),
    });
  }

  return {
    listed: {
      name: served.name ?? agent.name,
      description: served.description || agent.description || `Has the agent ${agent.name} work on a task.`,
      inputSchema: INPUT,
      outputSchema: outputSchema(agent),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    // The session knows what was done: nothing of it is done again.
    mayRepeat: true,

    async call(input, round) {
      const { request } = round.open;
      const given = taskOf(input);
      if (typeof given === "string") return wireFailure(given);
      const { task, session } = given;
      if (session !== undefined && !(await mayUseSession(session, request, access)))
        return wireFailure(`There is no session ${JSON.stringify(session)} that this client may go on in. Leave it out to begin one.`);
      try {
        let run = await begin(task, session, round);
        round.keep({ session: run.session });
        for (;;) {
          const outcome = await follow(run, request);
          const questions = (outcome.waits ?? []).filter((wait): wait is Question => wait.type === "approval" || wait.type === "decision");
          if (questions.length === 0 || request.signal.aborted) return told(run, outcome, questions);
          const decided = await Promise.all(questions.map((question) => decide(question, request, runner)));
          if (!decided.includes(true)) return told(run, outcome, questions);
          run = await runner.resume(run.session);
        }
      } catch (error) {
        if (AgentError.is(error)) return wireFailure(error.message);
        throw error;
      }
    },
  };
}

const INPUT: ServedTool["listed"]["inputSchema"] = {
  type: "object",
  properties: {
    task: { type: "string", description: "What is to be done. Left out, an interrupted or waiting session goes on." },
    session: { type: "string", description: "Goes on in this session, with all that was said in it. Left out, a new one begins." },
  },
  anyOf: [{ required: ["task"] }, { required: ["session"] }],
};

function outputSchema(agent: ServedAgent["agent"]): JsonObject {
  const { output } = agent;
  return {
    type: "object",
    properties: {
      session: { type: "string", description: "Where to go on." },
      reason: { type: "string", description: "How the run ended, or what it waits for; complete: it came to its end." },
      text: { type: "string" },
      ...(output !== undefined && { output: compileSchema(output).jsonSchema }),
      waits: { type: "array", items: { type: "object" } },
    },
    required: ["session", "reason", "text"],
  };
}

function taskOf(input: JsonValue | undefined): { readonly task?: string; readonly session?: string } | string {
  const { task, session } = (input ?? {}) as { readonly task?: unknown; readonly session?: unknown };
  if (task !== undefined && typeof task !== "string") return "`task` must be a text.";
  if (session !== undefined && (typeof session !== "string" || session === "")) return "`session` must be the id of a session.";
  if (task === undefined && session === undefined) return "Say a `task`, or a `session` that is to go on.";
  return { ...(task !== undefined && { task }), ...(session !== undefined && { session }) };
}

/** To the end of the run, or to where it waits; the client sees it move. */
async function follow(run: Run<unknown>, request: McpRequest): Promise<RunOutcome<unknown>> {
  const stop = (): void => void run.stop("The client cancelled the call.").catch(() => {});
  if (request.signal.aborted) stop();
  request.signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const event of run) {
      const message = progressOf(event);
      if (message !== undefined) request.progress(message);
    }
    return await run.outcome;
  } finally {
    request.signal.removeEventListener("abort", stop);
  }
}

function progressOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "turn-start":
      return `turn ${event.turn}`;
    case "tool-calls-start":
      return `calls ${event.calls.map(({ name }) => name).join(", ")}`;
    case "tool-progress":
      return event.message;
    case "retry":
      return `tries again: ${event.reason}`;
    case "compaction":
      return "shortens the conversation";
    default:
      return undefined;
  }
}

/** @returns whether it is decided now, by whomever */
async function decide(question: Question, request: McpRequest, runner: ServedRunner): Promise<boolean> {
  const answer = await request.ask(asQuestion(question), { key: `approval-${shortHash(question.token, 12)}` });
  if (answer.type === "cancelled") return false;
  const by = request.principal ?? request.client?.name;
  try {
    await runner.approve(question.token, { ...decisionOf(question, answer), ...(by !== undefined && { by }) });
  } catch (error) {
    if (!AgentError.is(error, "invalid-token") || error.failure.reason !== "used") throw error;
  }
  return true;
}

function asQuestion(question: Question): ToolQuestion {
  const { type, operation, description, input, reason, summary, asked } = question;
  if (asked !== undefined) {
    const { message, from = operation, schema, url, issues = [] } = asked;
    const again = issues.map((issue) => `The last answer could not be used: ${issue}`);
    return { message: [message, ...again].join("\n"), from, ...(schema && { schema }), ...(url !== undefined && { url }) };
  }
  const what =
    type === "approval"
      ? `May ${operation} be called?`
      : `Whether a call of ${operation} took effect is not known. What is to become of it?`;
  const lines = [
    what,
    ...(description === undefined ? [] : [description]),
    ...(input === undefined ? [] : [`Arguments: ${JSON.stringify(input)}`]),
    ...(summary === undefined ? [] : [summary]),
    ...(reason === undefined ? [] : [reason]),
  ];
  const choices = type === "approval" ? ["allow", "deny"] : ["retry", "fail"];
  return {
    message: lines.join("\n"),
    schema: {
      type: "object",
      properties: {
        decision: {
          type: "string",
          enum: choices,
          description: type === "approval" ? "Whether it may run" : "Call it again, or count it as failed",
        },
        reason: { type: "string", description: "For the agent, where it is a no" },
      },
      required: ["decision"],
    },
  };
}

function decisionOf({ type, asked }: Question, answer: ToolAnswer): Decision {
  if (asked !== undefined) {
    if (answer.type !== "provided") return { type: "deny", ...(answer.reason !== undefined && { reason: answer.reason }) };
    return asked.schema === undefined ? { type: "allow" } : { type: "supply", output: answer.value };
  }
  const { decision, reason } = (answer.type === "provided" ? answer.value : {}) as { readonly decision?: string; readonly reason?: string };
  const why = reason === undefined || reason === "" ? {} : { reason };
  if (type === "approval") return decision === "allow" ? { type: "allow" } : { type: "deny", ...why };
  return decision === "retry" ? { type: "retry" } : { type: "fail", ...why };
}

/** Tokens of questions are for people: whoever has one decides, and a model would decide for itself. */
function told(run: Run<unknown>, outcome: RunOutcome<unknown>, questions: readonly Question[]): WireResult {
  const { reason, text, output, error, why } = outcome;
  const waits = questions.map(({ type, operation, input, asked }) => ({
    type,
    operation,
    ...(input !== undefined && { input }),
    ...(asked && { asked: asked.message }),
  }));
  const structuredContent: JsonObject = {
    session: run.session,
    reason,
    text,
    ...(output !== undefined && { output: output as JsonValue }),
    ...(waits.length > 0 && { waits }),
  };
  const _meta = { "keelson/session": run.session };
  if (reason === "complete" || reason === "no-action" || reason === "handed-off") {
    const said = output === undefined ? text : JSON.stringify(output);
    if (said.trim() !== "") return { content: [{ type: "text", text: said }], structuredContent, _meta };
    const missing = `${describeMissingOutput("The run", reason)} Its session is ${JSON.stringify(run.session)}.`;
    return { content: [{ type: "text", text: missing }], structuredContent, isError: true, _meta };
  }
  if (isSuspendReason(reason)) {
    const asked = waits.map(({ operation }) => operation).join(", ");
    const what = asked === "" ? "" : `: somebody has to decide about ${asked}, and was not asked here`;
    const how = `It goes on when this tool is called with the session ${JSON.stringify(run.session)} and no task.`;
    return { content: [{ type: "text", text: `The run is suspended (${reason})${what}. ${how}` }], structuredContent, _meta };
  }
  const because = error?.message ?? why;
  const message = `The run ended early (${reason})${because === undefined ? "" : `: ${because}`}. Its session is ${JSON.stringify(run.session)}.`;
  return { content: [{ type: "text", text: text === "" ? message : `${message}\n${text}` }], structuredContent, isError: true, _meta };
}

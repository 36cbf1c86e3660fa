import type { Decision, JsonValue } from "@keelson/protocol";
import { parseJson } from "keelson/tools";
import { modeToCarryOut, PLAN_TOOL } from "../core/plan-answer.ts";
import { openSessionRunner } from "../core/session-runner.ts";
import type { CodingRunner } from "../core/coding-runner.ts";
import { readStandardInput } from "../core/read-standard-input.ts";
import type { CommandHost } from "../core/command-host.ts";
import { userOf } from "../core/user-of.ts";
import { openStores } from "../core/stores.ts";
import type { ApproveCommand } from "../options/command-line.ts";
import { UsageError } from "../options/usage-error.ts";
import { printable } from "../text/printable.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import { waitingLines } from "../render/waiting-lines.ts";
import { openQuestions, tokenNamed } from "../core/waiting-questions.ts";

/** Records what a person decided about a question of a run, wherever that run is. @returns the exit code */
export async function approve(command: ApproveCommand, host: CommandHost): Promise<number> {
  const { environment, stdout } = host;
  const { token: given, decision: kind } = command;
  if (given === undefined || kind === undefined) return listWaiting(command, host);
  const value = command.value === "-" ? await readValue(host) : command.value;
  const decision = readDecision({ decision: kind, ...(command.rules && { rules: command.rules }) }, value);
  await using stores = await openStores(environment);
  const runner = openSessionRunner(stores);
  const token = await tokenNamed(given, runner);
  await setModeOfPlan(runner, token, decision);
  const { session } = await runner.approve(token, { ...decision, ...byWhom(environment) });
  stdout.write(`recorded: ${decision.type}\n`);
  if (decision.type === "allow-always") {
    const rules = decision.rules ?? (await offeredRules(runner, session, token));
    stdout.write(
      rules.length === 0
        ? "allowed: this call only, since there is no rule for more\n"
        : `allowed from now on, in this session:\n${rules.map((rule) => `  ${printable(rule)}\n`).join("")}`,
    );
  }
  stdout.write(`A run that waits in another process goes on by itself. One that ended goes on with:\n  ${host.command} -p -r ${session}\n`);
  return 0;
}

/** Ends plan mode before a plan is accepted, as a terminal does. */
async function setModeOfPlan(runner: CodingRunner, token: string, decision: Decision): Promise<void> {
  if (decision.type !== "supply") return;
  const question = (await runner.approvals.list()).find((open) => open.token === token);
  if (question?.operation !== PLAN_TOOL) return;
  const { run } = await runner.sessions.get(question.session);
  const mode = modeToCarryOut(question, decision, run?.permissionMode);
  if (mode !== undefined) await runner.setPermissionMode(question.session, mode);
}

/** Prints the open questions of all sessions. @returns the exit code */
async function listWaiting({ json }: ApproveCommand, { environment, stdout, command, now }: CommandHost): Promise<number> {
  await using stores = await openStores(environment);
  const waiting = await openQuestions(openSessionRunner(stores));
  const view = { command, now: now(), columns: stdout.columns ?? 100, style: createStyle(wantsColors(stdout, environment)) };
  stdout.write(json ? `${JSON.stringify(waiting)}\n` : `${waitingLines(waiting, view).join("\n")}\n`);
  return 0;
}

async function readValue({ stdin, stderr }: CommandHost): Promise<string> {
  const onWaiting = (): void => void stderr.write("keelson: waiting for the value on standard input, to its end\n");
  return ((await readStandardInput(stdin, { silent: "wait", onWaiting })) ?? "").trim();
}

/** What the question offers first, which is what holds where nobody names rules. */
async function offeredRules({ sessions }: CodingRunner, session: string, token: string): Promise<readonly string[]> {
  for await (const event of sessions.events(session))
    if (event.type === "approval-request" && event.token === token) return event.always?.[0]?.rules ?? [];
  return [];
}

/** @throws UsageError when the value does not fit the decision */
function readDecision(
  { decision: type, rules }: { readonly decision: Decision["type"]; readonly rules?: readonly string[] },
  value: string | undefined,
): Decision {
  switch (type) {
    case "allow-always":
      return { type, ...(rules !== undefined && { rules }) };
    case "allow":
    case "retry":
      if (value !== undefined)
        throw new UsageError(
          `${type} takes no value`,
          'To change the arguments, use allow-modified with JSON, as in: allow-modified \'{"command":"npm ci"}\'.',
        );
      return { type };
    case "deny":
    case "fail":
    case "abort":
      return { type, ...(value !== undefined && { reason: value }) };
    case "allow-modified":
      return { type, input: readJson(type, value) };
    case "supply":
      return { type, output: readJson(type, value) };
    default:
      throw new UsageError(`${type} is no decision that can be given`);
  }
}

function readJson(type: string, value: string | undefined): JsonValue {
  if (value === undefined || value === "")
    throw new UsageError(
      `${type} needs a value`,
      type === "supply"
        ? "Give the output of the call, or the value that it asks for, as JSON, or - to read it from standard input."
        : "Give the new arguments as JSON, or - to read them from standard input.",
    );
  try {
    return parseJson(value);
  } catch (error) {
    throw new UsageError(
      `the value of ${type} is no JSON: ${error instanceof Error ? error.message : String(error)}`,
      "Quote it for the shell, or give - and write it to standard input.",
    );
  }
}

/** A claim, which the log keeps beside the decision. */
function byWhom(environment: { readonly [name: string]: string | undefined }): { readonly by?: string } {
  const user = userOf(environment);
  return user === undefined ? {} : { by: user };
}

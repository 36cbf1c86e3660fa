import type { JsonValue, ToolInference } from "@keelson/protocol";
import { canonicalJson } from "../../../json/canonical-json.ts";
import { truncateText } from "../../../json/truncate-text.ts";
import { grantsFor } from "../../definition/permissions/granted-rules.ts";
import { INFER } from "../../definition/permissions/infer-subject.ts";
import { approvalsOf } from "../../features/approvals/run-approvals.ts";
import { decidePermission } from "../../features/permissions/decide-permission.ts";
import { policiesOf } from "../../features/permissions/run-policies.ts";
import { runOf, sessionOf } from "../../turn/loop.ts";
import type { CallBroker } from "./call-broker.ts";

/** UTF-8 bytes of each text that a person is shown. */
const SHOWN_BYTES = 4 * 1024;
const SHOWN_MESSAGES = 20;

export interface InferenceToPermit {
  readonly request: ToolInference;
  /** Who asks. */
  readonly who: string;
  /** Its place in the log. */
  readonly key: string;
  readonly digest: string;
}

/**
 * Whether a tool may ask the model: by the policies of the run, and by a person where those ask.
 * @returns why it may not. @throws DOMException `AbortError` where the call is ended for the question
 */
export async function permitInference(broker: CallBroker, asking: InferenceToPermit): Promise<string | undefined> {
  const { loop, call } = broker;
  const { who, key, digest } = asking;
  const input = shownInput(broker, asking);
  const run = runOf(loop);
  const decision = decidePermission({
    policies: policiesOf(loop),
    tool: INFER,
    argumentText: who,
    argumentsJson: () => canonicalJson(input),
    cwd: loop.agent.options.cwd,
    // What came of each inference is recorded, so that what was allowed for good holds at once.
    grants: grantsFor(new Set([...sessionOf(loop).grants, ...run.newGrants]), INFER.name),
    untrusted: run.callsUntrusted,
  });
  if (decision.behavior === "allow") return undefined;
  if (decision.behavior === "deny") return decision.reason;
  if (approvalsOf(loop).asksNobody) return `${decision.reason} Nobody can be asked here.`;
  const said = await broker.decide(
    {
      type: "approval",
      callId: call.part.id,
      key,
      round: 1,
      tool: { name: INFER.name, description: "Asks the model of this run something, for a tool.", risk: INFER.risk, version: "1" },
      input,
      reason: decision.reason,
      ...(decision.always && { always: decision.always }),
      bound: [key, digest],
    },
    call.tool.effect !== "write",
  );
  if (said === undefined) return "nobody allowed it in time";
  if (said.type === "allow" || said.type === "allow-always") return undefined;
  return said.type === "deny" ? `a person declined it${said.reason ? `: ${said.reason}` : ""}` : `"${said.type}" does not allow it`;
}

/** What a person is shown: the prompt, as far as that is read. */
function shownInput({ call }: CallBroker, { who, request }: InferenceToPermit): JsonValue {
  const { system, messages, maxTokens } = request;
  const shown = messages.slice(-SHOWN_MESSAGES).map(({ role, content }) => ({
    role,
    text: cut(content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n")),
  }));
  const left = messages.length - shown.length;
  return {
    who,
    tool: call.tool.name,
    ...(system !== undefined && { system: cut(system) }),
    ...(left > 0 && { earlierMessages: left }),
    messages: shown,
    maxTokens,
  };
}

function cut(text: string): string {
  return truncateText(text, SHOWN_BYTES).text;
}

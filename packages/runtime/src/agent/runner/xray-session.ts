import type { SessionId } from "@keelson/protocol";
import { compileRequest } from "../../context/compile-request.ts";
import { type PlannedRequest, xrayConversation } from "../../context/xray/xray-conversation.ts";
import type { Xray, XrayOptions } from "../../context/xray/xray-request.ts";
import { foldSession } from "../../session/fold-session.ts";
import { sessionError } from "../../session/session-error.ts";
import type { Agent } from "../definition/agent.ts";
import { modelName, modelsOf } from "../definition/model-source.ts";
import { deferralOf, turnTools } from "../features/tool-sources/turn-tools.ts";
import { lastCount } from "../loop/last-count.ts";
import { shownFiles } from "../loop/shown-files.ts";
import { systemText } from "../loop/system-prompt.ts";
import type { RunnerServices } from "../turn/runner-services.ts";

export interface SessionXrayOptions {
  /** Default `next`. */
  readonly request?: "next" | "last" | undefined;
  /** Which stretches of the system prompt are the text of files. Default: none. */
  readonly systemFiles?: XrayOptions["systemFiles"];
}

/** X-rays the last request of a session, or the one that a run of it would make now, from its log. */
export async function xraySession(
  { log, blobs, models }: RunnerServices,
  find: (agent: string) => Agent<unknown> | undefined,
  session: string,
  { request: which = "next", systemFiles }: SessionXrayOptions,
): Promise<Xray> {
  const state = await foldSession(log, blobs, session as SessionId);
  const { run, conversation } = state;
  if (run === undefined) throw sessionError(session, `Session "${session}" has had no run, so that there is no request to look at.`);
  const agent = find(run.agent);
  if (agent === undefined)
    throw sessionError(
      session,
      `Session "${session}" is of the agent "${run.agent}", which this runner does not have: give it to the runner.`,
    );
  const { instructions, settings, model } = agent.options;
  const { id, target, price } = modelsOf(agent, models).resolve(run.model === "" ? modelName(model) : run.model);
  const tools = turnTools(agent, state, run.terms?.authority.allowedTools);
  const deferral = deferralOf(tools);
  const request = compileRequest({
    model: id,
    system: systemText(agent, typeof instructions === "function" ? run.instructions : instructions, run.terms?.systemAddendum, undefined),
    tools: tools.schemas,
    settings,
    messages: conversation.messages.slice(),
  });
  const planned: PlannedRequest = {
    request,
    target,
    price,
    ...lastCount(state),
    filesOf: shownFiles(agent),
    ...(systemFiles && { systemFiles }),
    ...(deferral && { deferral }),
  };
  return xrayConversation(planned, which);
}

import { compileRequest } from "../../context/compile-request.ts";
import type { PlannedRequest } from "../../context/xray/xray-conversation.ts";
import { outputSettings, offeredTools } from "../features/output/output-request.ts";
import { outputOf } from "../features/output/run-output.ts";
import { runOf, sessionOf, type Loop } from "../turn/loop.ts";
import { deferralOf, turnToolsOf } from "../features/tool-sources/turn-tools.ts";
import { lastCount } from "./last-count.ts";
import { shownFiles } from "./shown-files.ts";
import { systemText } from "./system-prompt.ts";

/** The request that a run would make now, as far as it is known without asking anybody. */
export function planRequest(loop: Loop): PlannedRequest {
  const { agent, models, settings } = loop;
  const run = runOf(loop);
  const { instructions } = agent.options;
  const base = typeof instructions === "function" ? run.instructions : instructions;
  const { target, price, id } = models.resolve(run.model);
  const request = compileRequest({
    model: id,
    system: systemText(agent, base, run.terms?.systemAddendum, outputOf(loop).form?.instructions),
    tools: offeredTools(loop),
    settings: { ...settings, ...outputSettings(loop) },
    messages: loop.context.conversation.messages.slice(),
  });
  const deferral = deferralOf(turnToolsOf(loop));
  return { request, target, price, ...lastCount(sessionOf(loop)), filesOf: shownFiles(agent), ...(deferral && { deferral }) };
}

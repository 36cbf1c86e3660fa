import { compileRequest } from "../../context/compile-request.ts";
import type { PlannedRequest } from "../../context/xray/xray-conversation.ts";
import { outputSettings, offeredTools } from "../features/output/output-request.ts";
import { runOf, sessionOf, type Loop } from "../turn/loop.ts";
import { deferralOf, turnToolsOf } from "../features/tool-sources/turn-tools.ts";
import { systemOf } from "./context-tokens.ts";
import { lastCount } from "./last-count.ts";
import { shownFiles } from "./shown-files.ts";

/** The request that a run would make now, as far as it is known without asking anybody. */
export function planRequest(loop: Loop): PlannedRequest {
  const { agent, models, settings } = loop;
  const { target, price, id } = models.resolve(runOf(loop).model);
  const request = compileRequest({
    model: id,
    system: systemOf(loop),
    tools: offeredTools(loop),
    settings: { ...settings, ...outputSettings(loop) },
    messages: loop.context.conversation.messages.slice(),
  });
  const deferral = deferralOf(turnToolsOf(loop));
  return { request, target, price, ...lastCount(sessionOf(loop)), filesOf: shownFiles(agent), ...(deferral && { deferral }) };
}

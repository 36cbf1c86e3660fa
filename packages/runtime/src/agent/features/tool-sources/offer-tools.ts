import type { ToolOffers } from "../../../session/offered-tool.ts";
import { deferredTools } from "../../../context/xray/deferred-tools.ts";
import { SEARCH_TOOL } from "../../definition/tool-sources/search-tool.ts";
import { deferralOf, turnToolsOf } from "./turn-tools.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import type { Step } from "../../turn/moments.ts";
import { checkEnding } from "../../turn/run-ending.ts";
import { compareOffers } from "./compare-offers.ts";
import { openedSources, tellProblems, type OpenedSources } from "./run-sources.ts";
import { waitFor } from "./wait-for.ts";

/** Records where what sources offer is not what was recorded: the turn that begins has that, also where it is resumed. */
export const offerToolsStep: Step = {
  name: "what sources offer",
  applies,
  async run(loop, { turn }) {
    const opened = openedSources(loop);
    if (opened !== undefined) await waitForStart(loop, opened);
    await recordOffers(loop, turn);
  },
};

/** The same when a turn ends: where each turn is another process's, a source that takes its time is there only then. */
export const offerToolsAtEndStep: Step = {
  name: "what sources offer by the end of the turn",
  applies,
  run: (loop, { turn }) => recordOffers(loop, turn),
};

/** A rehearsal opens no source, and goes by what was recorded. */
function applies(loop: Loop): boolean {
  return loop.execution.outside === undefined && (openedSources(loop) !== undefined || recordedOffers(loop) !== undefined);
}

async function recordOffers(loop: Loop, turn: string): Promise<void> {
  const { agent, execution } = loop;
  const all = openedSources(loop)?.all ?? [];
  const { changes, leftOut } = compareOffers(agent, recordedOffers(loop), all);
  for (const { source, tools, removed } of changes)
    execution.put(freeKey(loop, `${turn}/tools/${source}`), "tools-offered", {
      agent: agent.name,
      source,
      ...(tools.length > 0 && { tools }),
      ...(removed.length > 0 && { removed }),
    });
  tellProblems(loop, [...leftOut, ...all.flatMap(({ problems }) => problems)]);
  if (changes.length > 0) await tellSavings(loop);
}

function recordedOffers(loop: Loop): ToolOffers | undefined {
  return sessionOf(loop).offers?.get(loop.agent.name);
}

/** The first turn in this process waits, for those that say so. */
async function waitForStart(loop: Loop, opened: OpenedSources): Promise<void> {
  if (opened.hasWaited) return;
  opened.hasWaited = true;
  const waited = opened.all.filter(({ startupWaitMs }) => startupWaitMs > 0);
  if (waited.length === 0) return;
  await Promise.all(waited.map(({ ready, startupWaitMs }) => waitFor(loop.execution, ready, startupWaitMs)));
  checkEnding(loop);
}

/** How much is not sent for the sake of tools that are told by name alone. */
async function tellSavings(loop: Loop): Promise<void> {
  const { schemas: sent, ...others } = turnToolsOf(loop);
  const deferral = deferralOf({ schemas: sent, ...others });
  if (deferral === undefined) return;
  const { target, id } = loop.models.resolve(runOf(loop).model);
  const { tools, tokens } = await deferredTools(id, target, { sent, ...deferral });
  const status = `${tools} tools are told to the model by name, and ${SEARCH_TOOL} gives their schemas: about ${tokens} tokens less in each request.`;
  loop.execution.emit({ type: "status", status, level: "info" });
}

/** What a process that ended put between the same turns stays. */
function freeKey({ execution }: Loop, place: string): string {
  for (let number = 1; ; number++) if (!execution.has(`${place}/${number}`)) return `${place}/${number}`;
}

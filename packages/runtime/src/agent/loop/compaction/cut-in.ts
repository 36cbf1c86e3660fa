import type { Step } from "../../turn/moments.ts";
import { besideKey } from "./preparation.ts";

/** At the end of a turn: puts the summary that was made beside it in its place. */
export const cutInStep: Step = {
  name: "compaction beside the turn",
  applies: ({ execution }, { turn }) => execution.has(`${besideKey(turn)}/begin`) && !execution.has(`${besideKey(turn)}/left`),
  async run(loop, { turn }) {
    const { cutIn } = await import("./prepare-beside.ts");
    await cutIn(loop, besideKey(turn));
  },
};

import type { BackgroundJobEnding, Tool, ToolCall, ToolOutput } from "@keelson/protocol";
import { randomId } from "../../json/random-id.ts";
import type { Clock } from "../../platform/clock.ts";
import { describeThrown } from "../../tools/describe-thrown.ts";
import { isToolContent } from "../../tools/json-output.ts";
import { type BackgroundCall, resultTool } from "./result-tool.ts";

export interface BackgroundOptions {
  /** The name of the tool, for people and the model. */
  readonly name: string;
  readonly server: string;
  /** A call that takes longer, in ms, is answered with where to ask for its result, and goes on. It does not while somebody here is asked something. */
  readonly afterMs: number;
}

/** Calls that went on when they had been answered, as jobs of their runs. */
export interface BackgroundCalls {
  /** @param work makes the call, with what it is given beside its input */
  during(call: ToolCall, options: BackgroundOptions, work: (call: ToolCall) => Promise<ToolOutput>): Promise<ToolOutput>;
  /** By which a model waits for them. */
  readonly resultTool: Tool;
}

// Of calls that are over: what came of them was told, if shortened.
const MAX_KEPT = 50;

export function createBackgroundCalls(clock: Clock): BackgroundCalls {
  const kept = new Map<string, BackgroundCall>();

  const keep = (id: string, call: BackgroundCall): void => {
    kept.set(id, call);
    const over = [...kept].filter(([, { isOver }]) => isOver);
    for (const [key] of over.slice(0, Math.max(0, over.length - MAX_KEPT))) kept.delete(key);
  };

  return {
    async during(call, { name, server, afterMs }, work) {
      if (call.follow === undefined) return work(call);
      const ending = new AbortController();
      const giveUp = (): void => ending.abort(call.signal.reason);
      if (call.signal.aborted) giveUp();
      call.signal.addEventListener("abort", giveUp, { once: true });

      const { promise: wentOn, resolve } = Promise.withResolvers<string>();
      let isBeside = false;
      let isDue = false;
      let isOver = false;
      let asking = 0;
      let said: string | undefined;
      const goOn = (): void => {
        if (!isDue || asking > 0 || isBeside || isOver || ending.signal.aborted) return;
        const id = `call_${randomId().slice(0, 8)}`;
        try {
          call.follow?.({ id, name, ended: endingOf(beside), end: () => ending.abort(new Error("The run is over, or wants it ended.")) });
        } catch {
          // The run has as much at work as it may, and waits for this one.
          return;
        }
        isBeside = true;
        call.signal.removeEventListener("abort", giveUp);
        keep(id, beside);
        resolve(`It takes long, and goes on in the background as ${id}. Its end is told while the run goes on; mcp_result waits for it.`);
      };
      const whileAsking = async <T>(question: () => Promise<T>): Promise<T> => {
        asking++;
        try {
          return await question();
        } finally {
          asking--;
          goOn();
        }
      };
      const { ask, infer } = call;
      const answered = work({
        ...call,
        signal: ending.signal,
        progress(message, ratio) {
          said = message;
          if (!isBeside) call.progress(message, ratio);
        },
        // A call that was answered asks nothing any more.
        ...(ask && { ask: async (question) => (isBeside ? { type: "cancelled" } : whileAsking(() => ask.call(call, question))) }),
        ...(infer && {
          infer: async (request) =>
            isBeside
              ? { type: "refused", reason: "the call goes on in the background, where no model is asked." }
              : whileAsking(() => infer.call(call, request)),
        }),
      });
      const beside: BackgroundCall = {
        server,
        answered,
        waiting: 0,
        get isOver() {
          return isOver;
        },
        get said() {
          return said;
        },
      };
      const disarm = clock.after(afterMs, () => {
        isDue = true;
        goOn();
      });
      const over = (): void => {
        isOver = true;
        disarm();
        call.signal.removeEventListener("abort", giveUp);
      };
      answered.then(over, over);
      return Promise.race([answered, wentOn]);
    },
    resultTool: resultTool(kept, clock),
  };
}

async function endingOf(call: BackgroundCall): Promise<BackgroundJobEnding> {
  try {
    const output = await call.answered;
    return { text: inWords(output), isError: isToolContent(output) && output.isError === true, isTold: call.waiting > 0 };
  } catch (error) {
    return { text: describeThrown(error), isError: true, isTold: call.waiting > 0 };
  }
}

/** For a sentence that says how a job ended. */
function inWords(output: ToolOutput): string {
  if (typeof output === "string") return output;
  if (!isToolContent(output)) return JSON.stringify(output);
  const texts = output.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const others = output.content.length - texts.length;
  return [...texts, ...(others > 0 ? [`[${others} images or files, which mcp_result gives]`] : [])].join("\n");
}

import type { Tool, ToolOutput } from "@keelson/protocol";
import type { Clock } from "../../platform/clock.ts";
import { defineTool } from "../../tools/index.ts";

/** A call that went on when it had been answered. */
export interface BackgroundCall {
  /** Of which it is. */
  readonly server: string;
  readonly answered: Promise<ToolOutput>;
  readonly isOver: boolean;
  /** How far it is, as the server says. */
  readonly said: string | undefined;
  /** How many wait for it, who are told: nobody else has to be. */
  waiting: number;
}

const DEFAULT_WAIT_SECONDS = 60;
const MAX_WAIT_SECONDS = 600;

/** The tool by which a model waits for calls in the background. */
export function resultTool(calls: ReadonlyMap<string, BackgroundCall>, clock: Clock): Tool {
  return defineTool<{ readonly id: string; readonly wait_seconds?: number }>({
    name: "mcp_result",
    description: "Waits for a call of an MCP tool that went on in the background, and gives its result.",
    effect: "read",
    input: {
      type: "object",
      properties: {
        id: { type: "string", description: "What the call was answered with: call_…" },
        wait_seconds: {
          type: "integer",
          minimum: 0,
          maximum: MAX_WAIT_SECONDS,
          description: `How long to wait for it. Default ${DEFAULT_WAIT_SECONDS}.`,
        },
      },
      required: ["id"],
    },
    untrusted: ({ id }) => {
      const call = calls.get(id);
      return call === undefined ? undefined : `MCP server ${call.server}`;
    },
    async execute({ id, wait_seconds: seconds = DEFAULT_WAIT_SECONDS }, { signal }) {
      const call = calls.get(id);
      if (call === undefined)
        throw new Error(
          `There is no call ${id} here: its process is gone, or it was over long ago. Find out what it did before you make it again.`,
        );
      const { promise: late, resolve: leave } = Promise.withResolvers<undefined>();
      const disarm = clock.after(seconds * 1000, () => leave(undefined));
      const giveUp = (): void => leave(undefined);
      signal.addEventListener("abort", giveUp, { once: true });
      call.waiting++;
      try {
        const found = await Promise.race([call.answered.then((output) => ({ output })), late]);
        return found === undefined ? `${id} is not over${call.said === undefined ? "" : `: ${call.said}`}` : found.output;
      } finally {
        call.waiting--;
        disarm();
        signal.removeEventListener("abort", giveUp);
      }
    },
  });
}

import type { SessionId, Wait } from "@keelson/protocol";
import { callTitle } from "../render/tool-view.ts";
import { createStyle } from "../render/style.ts";

/** What to type to decide a question and to go on. */
export interface DecisionCommands {
  readonly waits: readonly {
    readonly operation: string;
    readonly callId: string;
    readonly token: string;
    readonly commands: readonly string[];
  }[];
  readonly resume: string;
}

/** @param command how the person calls this program, as in `keelson` */
export function decisionCommands(command: string, session: SessionId, waits: readonly Wait[]): DecisionCommands {
  return {
    waits: waits.flatMap((wait) => {
      if (wait.type !== "approval" && wait.type !== "decision") return [];
      const { operation, callId, token } = wait;
      const decide = `${command} approve ${token}`;
      const commands =
        wait.type === "approval"
          ? [`${decide} allow`, `${decide} deny 'why not'`]
          : [`${decide} retry`, `${decide} supply '"its output"'`, `${decide} fail 'why'`];
      return [{ operation, callId, token, commands }];
    }),
    resume: `${command} -p -r ${session}`,
  };
}

/** The same for reading: one paragraph for each question, then how to go on. */
export function decisionLines({ waits, resume }: DecisionCommands): string[] {
  const style = createStyle(false);
  const lines = waits.flatMap(({ operation, commands }) => [
    `Decide about ${callTitle({ name: operation }, { style, columns: 80 })} with one of:`,
    ...commands.map((command) => `  ${command}`),
  ]);
  return [...lines, waits.length > 0 ? "Then go on with:" : "Go on with:", `  ${resume}`];
}

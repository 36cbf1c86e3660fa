import type { AskedQuestion, SessionId, Wait } from "@keelson/protocol";
import { exampleAnswer } from "./answer-form.ts";
import { callTitle } from "../render/tool-view.ts";
import { printable, printableLine } from "../text/printable.ts";
import { createStyle } from "../text/style.ts";

/** What to type to decide a question and to go on. */
export interface DecisionCommands {
  readonly waits: readonly {
    readonly operation: string;
    readonly callId: string;
    readonly token: string;
    /** The words of a tool that asks while it runs, or of a run whose budget is met. */
    readonly asked?: string;
    readonly commands: readonly string[];
  }[];
  readonly resume: string;
}

/** @param command how the person calls this program, as in `keelson` */
export function decisionCommands(command: string, session: SessionId, waits: readonly Wait[]): DecisionCommands {
  return {
    waits: waits.flatMap((wait): DecisionCommands["waits"] => {
      if (wait.type !== "approval" && wait.type !== "decision") return [];
      const { operation, callId, token, asked, budget, summary } = wait;
      const decide = `${command} approve ${token}`;
      if (asked !== undefined)
        return [{ operation, callId, token, asked: saidBy(operation, asked), commands: answerCommands(decide, asked) }];
      if (budget !== undefined) {
        const amount = budget.unit === "cost" ? '{"usd":"2.50"}' : '{"tokens":50000}';
        const commands = [`${decide} allow`, `${decide} allow-modified '${amount}'`, `${decide} deny`];
        return [{ operation, callId, token, ...(summary !== undefined && { asked: summary }), commands }];
      }
      const commands =
        wait.type === "approval"
          ? [`${decide} allow`, `${decide} deny 'why not'`]
          : [`${decide} retry`, `${decide} supply '"its output"'`, `${decide} fail 'why'`];
      return [{ operation, callId, token, commands }];
    }),
    resume: `${command} -p -r ${session}`,
  };
}

function saidBy(operation: string, { from, message }: AskedQuestion): string {
  return `${from === undefined ? operation : `${from}, by ${operation},`} asks: ${message}`;
}

function answerCommands(decide: string, { schema }: AskedQuestion): readonly string[] {
  const yes = schema === undefined ? "allow" : `supply ${quoted(JSON.stringify(exampleAnswer(schema)))}`;
  return [`${decide} ${yes}`, `${decide} deny 'why not'`];
}

/** For a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The same for reading: one paragraph for each question, then how to go on. */
export function decisionLines({ waits, resume }: DecisionCommands): string[] {
  const style = createStyle(false);
  const lines = waits.flatMap(({ operation, asked, commands }) => [
    ...(asked === undefined
      ? [`Decide about ${callTitle({ name: operation }, { style, columns: 80 })} with one of:`]
      : [...printable(asked).split("\n"), "Answer with one of:"]),
    ...commands.map((command) => `  ${printableLine(command)}`),
  ]);
  return [...lines, waits.length > 0 ? "Then continue with:" : "Continue with:", `  ${resume}`];
}

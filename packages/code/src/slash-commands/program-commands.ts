import type { JobInfo } from "@keelson/protocol";
import { jobLines } from "../render/job-lines.ts";
import { printableLine } from "../text/printable.ts";
import type { Prompt, SlashCommand } from "./slash-command.ts";

export interface ProgramCommandsOptions {
  /** The lines of `keelson doctor` for the folder of the conversation. */
  findings(view: Pick<Prompt, "style" | "columns">): Promise<readonly string[]>;
  /** The commands that run in the background, and those that did. */
  jobs(): Promise<readonly JobInfo[]>;
  /** The lines of the agent's list of tasks. Absent: the agent keeps none. */
  readonly tasks?: ((columns: number) => readonly string[]) | undefined;
  /** The lines of an output that was folded; the last one without a number. `undefined`: there is none. Absent: nothing is folded. */
  readonly openOutput?: ((number?: number) => readonly string[] | undefined) | undefined;
}

/** The commands about the work under way and about the program itself. */
export function programCommands({ findings, jobs, tasks, openOutput }: ProgramCommandsOptions): readonly SlashCommand[] {
  return [
    {
      name: "tasks",
      description: "the agent's list of tasks, and the commands that run in the background",
      group: "conversation",
      async execute(_argument, { style, columns }) {
        const listed = tasks?.(columns) ?? [];
        const running = jobLines(await jobs(), { style, columns });
        const lines = [...listed, ...running];
        return lines.length === 0 ? ["Nothing is on the agent's list of tasks, and nothing runs in the background."] : lines;
      },
    },
    ...(openOutput === undefined
      ? []
      : [
          {
            name: "open",
            argumentHint: "[n]",
            description: "show all of an output that was folded: the last one, or number n",
            group: "conversation",
            execute(argument, { style }) {
              if (!/^\d*$/.test(argument)) return [style.yellow(`"${printableLine(argument)}" is no number of a folded output`)];
              const lines = openOutput(argument === "" ? undefined : Number(argument));
              return (
                lines ?? [
                  style.yellow(argument === "" ? "no output was folded" : `there is no folded output ${argument}, or it is no longer kept`),
                ]
              );
            },
          } satisfies SlashCommand,
        ]),
    {
      name: "doctor",
      description: "check keys, home folder, servers, settings and tools for this folder",
      group: "program",
      execute: (_argument, prompt) => findings(prompt),
    },
  ];
}

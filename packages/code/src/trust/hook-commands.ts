/** A command of a hook, for a person and for what it covers. */
export interface HookCommand {
  /** The event, and which tools it is about. */
  readonly when: string;
  readonly command: string;
  /** Absent: the command is a line for a shell. */
  readonly args?: readonly string[];
}

/** Returns the commands in `{ hooks }`. What is no hook gives none here, and is refused when hooks are loaded. */
export function hookCommands(config: unknown): readonly HookCommand[] {
  return Object.entries(fieldsOf(fieldsOf(config)["hooks"])).flatMap(([event, groups]) =>
    listOf(groups).flatMap((group) => {
      const { matcher, hooks } = fieldsOf(group);
      return listOf(hooks).flatMap((handler) => {
        const { command, args, sandbox } = fieldsOf(handler);
        if (typeof command !== "string") return [];
        const at = typeof matcher === "string" && matcher !== "" ? `${event} ${matcher}` : event;
        const when = sandbox === true ? `${at} (in the sandbox)` : at;
        return [{ when, command, ...(Array.isArray(args) && { args: args.map(String) }) }];
      });
    }),
  );
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as { readonly [name: string]: unknown }) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

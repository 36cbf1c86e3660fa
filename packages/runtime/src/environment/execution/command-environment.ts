import { checkOptionNames } from "../../json/option-names.ts";
import { FLAG_OPTION } from "../../json/option-rules.ts";
import { type ChildEnvironment, createChildEnvironment } from "./child-environment.ts";
import { PASSED_OUTSIDE, PASSED_VARIABLES } from "./passed-variables.ts";

export interface CommandEnvironmentOptions {
  /** Variables that are passed on beside those of toolchains: names, also of secrets, and beginnings with a `*`, which leave secrets out. Default: none. */
  readonly pass?: readonly string[] | undefined;
  /** True if commands run in a sandbox, where proxies, agents of keys and folders for temporary files are others. Default false. */
  readonly sandbox?: boolean | undefined;
}

/**
 * The environment for commands that a model writes: a list names what they get of the variables of this process, and it says what was withheld
 * and which texts of it must not be shown.
 *
 * ```ts
 * const { variables, withheld } = createCommandEnvironment(process.env, { pass: ["MY_SETTING"] });
 * const exec = createProcessExecutor({ cwd, inherited: variables });
 * ```
 */
export function createCommandEnvironment(
  inherited: { readonly [name: string]: string | undefined },
  options: CommandEnvironmentOptions = {},
): ChildEnvironment {
  checkOptionNames("createCommandEnvironment", options, { pass: true, sandbox: FLAG_OPTION });
  const { pass, sandbox = false } = options;
  return createChildEnvironment(inherited, { listed: sandbox ? PASSED_VARIABLES : [...PASSED_VARIABLES, ...PASSED_OUTSIDE], pass });
}

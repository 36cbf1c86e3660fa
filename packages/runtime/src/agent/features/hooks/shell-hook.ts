import type { ExecuteResponse, Executor, HookPayloads, HookResults } from "@keelson/protocol";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import type { Hook, HookContext } from "../../definition/hooks/hook.ts";
import { resultOfShell } from "./shell-hook-result.ts";
import { shellHookInput, type ShellPoint } from "./shell-hook-input.ts";
import type { ToolAlias } from "../../../tools/tool-aliases.ts";
import { checkOptionNames } from "../../../json/option-names.ts";

export interface ShellHookOptions {
  /** Given to the executor's shell; with `args` the program itself. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Runs it. It need not be what tools are given. */
  readonly exec: Executor;
  /** Default 30,000 ms. Then the whole process group is ended. */
  readonly timeoutMs?: number | undefined;
  /** Default: the agent's working directory, else the executor's. */
  readonly cwd?: string | undefined;
  readonly env?: { readonly [name: string]: string } | undefined;
  /** What the command knows our tools by, where it has other names for them. */
  readonly toolNames?: { readonly [tool: string]: string } | undefined;
  /** Bytes kept of what it writes to stdout and to stderr, each. Default 32 KiB. */
  readonly maxOutputBytes?: number | undefined;
}

const DEFAULT_MAX_OUTPUT_BYTES = 32 * 1024;
const MAX_LABEL_LENGTH = 60;

/**
 * A hook that is a command. It reads a JSON object from stdin (`hook_event_name`, `session_id`, `cwd`, `tool_name`,
 * `tool_input`, …). It blocks with exit code 2 and the reason on stderr, or with exit code 0 and JSON on stdout: `decision`
 * or `hookSpecificOutput.permissionDecision` `deny` blocks and `ask` asks, `allow` is no opinion, `continue: false` ends the
 * run. Any other exit code is a warning; of a guard it counts as a refusal.
 */
export function createShellHook<P extends ShellPoint>(options: ShellHookOptions): Hook<P> {
  checkOptionNames("createShellHook", options, {
    command: true,
    args: true,
    exec: true,
    timeoutMs: true,
    cwd: true,
    env: true,
    toolNames: true,
    maxOutputBytes: true,
  });
  return shellHook(options);
}

/** @param spelling the name and the arguments that the author of the command knows a tool by; `undefined` for those that it has here */
export function shellHook<P extends ShellPoint>(options: ShellHookOptions, spelling?: (tool: string) => ToolAlias | undefined): Hook<P> {
  const { command, args, exec, timeoutMs, cwd, env, toolNames = {}, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options;
  const hook = async (payload: HookPayloads[P], context: HookContext<P>): Promise<HookResults[P] | undefined> => {
    const folder = cwd ?? context.cwd;
    let response: ExecuteResponse;
    try {
      response = await exec.execute({
        ...(args === undefined ? { command } : { program: command, args }),
        stdin: `${JSON.stringify(shellHookInput(context, payload, { cwd: folder, toolNames, spelling }))}\n`,
        signal: context.signal,
        maxOutputBytes,
        ...(folder !== undefined && { cwd: folder }),
        ...(env && { env }),
      });
    } catch (error) {
      // It was ended because nobody waits for it any more.
      if (context.signal.aborted) return undefined;
      return resultOfShell(context, { problem: describeThrown(error) });
    }
    return resultOfShell(context, { response, maxOutputBytes });
  };
  return Object.assign(hook, {
    label: command.length <= MAX_LABEL_LENGTH ? command : `${command.slice(0, MAX_LABEL_LENGTH)}…`,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
}

import type { FilteringProxyOptions } from "./network/filtering-proxy.ts";
import type { SandboxSession } from "./session/sandbox-session.ts";

export interface SandboxExecutorOptions extends FilteringProxyOptions {
  /** Where commands start, unless they say otherwise, and what relative paths of the policy are relative to. */
  readonly workspace: string;
  /** What variables are passed on from. Default: this process's. */
  readonly env?: { readonly [name: string]: string | undefined } | undefined;
  /** Path of bubblewrap. Default: `bwrap` in `PATH`. */
  readonly bubblewrap?: string | undefined;
  /** Takes `-c` and a command line. Default: bash, else sh. */
  readonly shell?: string | undefined;
  readonly maxOutputBytes?: number | undefined;
  /** Made by `createSandboxSession`: `/tmp` and the loopback network outlive a command, and hosts that the policy does not list can be opened. */
  readonly session?: SandboxSession | undefined;
}

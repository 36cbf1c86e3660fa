import type { BudgetScope } from "./budget.ts";
import type { SandboxConfig } from "./sandbox.ts";
import type { Usd } from "./usd.ts";

export type PermissionBehavior = "allow" | "deny" | "ask";

/**
 * `default`: calls up to risk `low` run, more dangerous ones ask. `accept-edits`: file modifications run too. `plan-only`: reads only; beats
 * allow rules. `bypass-all`: everything runs that no rule denies or asks for. `deny-unauthorized`: only what a rule allows.
 */
export type PermissionMode = "default" | "accept-edits" | "plan-only" | "bypass-all" | "deny-unauthorized";

export const PERMISSION_MODES: readonly PermissionMode[] = ["default", "accept-edits", "plan-only", "bypass-all", "deny-unauthorized"];

/** Deny beats ask beats allow; among equals the pattern with the fewest wildcards, then the longest literal prefix. */
export type PermissionRule = {
  /** `tool-glob` or `tool-glob(argument-glob)`, as in `bash(npm test*)`. */
  readonly pattern: string;
  readonly behavior: PermissionBehavior;
};

export type PermissionPolicy = {
  readonly mode: PermissionMode;
  readonly rules: readonly PermissionRule[];
  /** Default: the files that are known to be sensitive. */
  readonly sensitivePaths?: SensitivePaths | undefined;
  /** What calls may touch, in every mode, whatever rules allow. */
  readonly bounds?: EffectBounds | undefined;
};

/**
 * The parts of a sandbox's policy that bind the effects of calls as deny rules do: what they deny, and what they don't have in their lists. Parts
 * and lists that are absent bind nothing. Paths are absolute, or begin with `~/`, or are relative to the working directory. A call of which
 * something can't be known is asked about, unless a sandbox confines it.
 */
export type EffectBounds = {
  readonly filesystem?: {
    readonly writableRoots?: readonly string[];
    readonly readableRoots?: readonly string[];
    readonly deniedPaths?: readonly string[];
    readonly hideCredentials?: boolean;
    readonly protectedPaths?: readonly string[];
  };
  readonly network?: {
    readonly enabled: boolean;
    readonly allowedDomains?: readonly string[];
    readonly deniedDomains?: readonly string[];
  };
  readonly commands?: { readonly allowed?: readonly string[]; readonly denied?: readonly string[] };
};

/**
 * Files about which every mode but `bypass-all` asks at least, whatever rules with wildcards allow: keys and credentials, and, where they are
 * written, what steers agents, editors, version control and shells. Patterns as in path rules are added to those that are known;
 * `false` turns them off.
 */
export type SensitivePaths = false | { readonly reads?: readonly string[] | undefined; readonly writes?: readonly string[] | undefined };

/**
 * What a run may do, as data that flows from a run to its tools and child agents. Each level may tighten it, none may widen
 * it: the effective right is what every policy in `policies` allows.
 */
export type Authority = {
  /** Outermost first. */
  readonly policies: readonly PermissionPolicy[];
  /** When present, no other tool may be called. */
  readonly allowedTools?: readonly string[];
  readonly maxCost?: Usd;
  /** What it uses counts against each of these: budgets of its ancestors, and those that the program shares among runs. */
  readonly budgets?: readonly BudgetScope[];
  /** What commands and files of its tools are held to: all of these at once. */
  readonly sandboxes?: readonly SandboxConfig[];
  /** Unix ms. */
  readonly deadline?: number;
  /** How many levels of children may still be started. */
  readonly depth: number;
  /** Where text came from that nobody vouches for and that whoever started this had seen: it may stand in what it was told. */
  readonly untrusted?: readonly string[];
};

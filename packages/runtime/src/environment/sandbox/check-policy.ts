import { PERMISSION_MODES } from "@keelson/protocol";
import { nearestName } from "../../json/nearest-name.ts";
import { parseHostPattern } from "./network/host-pattern.ts";
import { memorySize } from "./memory-size.ts";
import { parseSize } from "./parse-size.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";

/** What is wrong with a value, or `undefined`. */
export type PolicyCheck = (value: unknown) => string | undefined;
type Members = { readonly [name: string]: PolicyCheck | Members };

const isText: PolicyCheck = (value) => (typeof value === "string" && value !== "" && !value.includes("\0") ? undefined : "is no text");
const isFlag: PolicyCheck = (value) => (typeof value === "boolean" ? undefined : "is neither true nor false");
const isCount: PolicyCheck = (value) => (Number.isSafeInteger(value) && (value as number) > 0 ? undefined : "is no whole number above 0");
const isSize: PolicyCheck = (value) =>
  (typeof value === "number" || typeof value === "string") && parseSize(value) !== undefined
    ? undefined
    : 'is no size: write bytes, or text such as "512MiB"';
const isMemory: PolicyCheck = (value) =>
  (typeof value === "number" || typeof value === "string") && memorySize(value, 2 ** 30) !== undefined
    ? undefined
    : 'is no size: write bytes, text such as "512MiB", or a share of the machine such as "50%"';
export const isPath: PolicyCheck = (value) => {
  if (isText(value) !== undefined) return "is no path";
  // A pattern that was taken for a name would hide nothing.
  return /[*?[\]{}]/.test(value as string) ? "is a pattern: name each file or folder" : undefined;
};
const isInnerPath: PolicyCheck = (value) =>
  isPath(value) ?? (/^[/~]|(^|\/)\.\.?(\/|$)/.test(value as string) ? "must be relative to a writable root, without . and .." : undefined);
export const isHost: PolicyCheck = (value) =>
  typeof value === "string" && parseHostPattern(value) !== undefined
    ? undefined
    : "is no host: write a name, *.name or an address, with :port where it is not 80 or 443";
const isVariable: PolicyCheck = (value) =>
  typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]*\*?$/.test(value) ? undefined : "is no name of a variable";
export const isProgram: PolicyCheck = (value) =>
  typeof value === "string" && /^(\/.*[^/]|[^/\0\s]+)$/.test(value) ? undefined : "is no program: write a name or an absolute path";
export const listOf =
  (check: PolicyCheck): PolicyCheck =>
  (value) =>
    Array.isArray(value)
      ? value.flatMap((member: unknown) => {
          const wrong = check(member);
          return wrong === undefined ? [] : [`has ${JSON.stringify(member) ?? String(member)}, which ${wrong}`];
        })[0]
      : "is no list";
const isProcessors: PolicyCheck = (value) =>
  typeof value === "number" && value >= 0.01 && value <= 10_000 ? undefined : "is no number of processors from 0.01 on";
const isVariables: PolicyCheck = (value) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "is no object";
  for (const [name, text] of Object.entries(value)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `has ${JSON.stringify(name)}, which is no name of a variable`;
    if (typeof text !== "string" || text.includes("\0")) return `gives ${name} a value that is no text`;
  }
  return undefined;
};

const POLICY: Members = {
  version: (value) => (value === 1 ? undefined : "is a version that this release does not know; it knows 1"),
  filesystem: {
    writableRoots: listOf(isPath),
    readableRoots: listOf(isPath),
    deniedPaths: listOf(isPath),
    hideCredentials: isFlag,
    hideSecrets: isFlag,
    revealed: listOf(isInnerPath),
    protectedPaths: listOf(isInnerPath),
    cacheFolders: listOf(isPath),
  },
  network: { enabled: isFlag, allowedDomains: listOf(isHost), deniedDomains: listOf(isHost) },
  environment: { pass: listOf(isVariable), set: isVariables },
  resources: {
    processes: isCount,
    memory: isMemory,
    fileSize: isSize,
    openFiles: isCount,
    cpuSeconds: isCount,
    cpus: isProcessors,
    temporary: isSize,
  },
  commands: { allowed: listOf(isProgram), denied: listOf(isProgram) },
};

const PERMISSIONS: Members = {
  mode: (value) =>
    (PERMISSION_MODES as readonly unknown[]).includes(value)
      ? undefined
      : `is no permission mode: there are ${PERMISSION_MODES.join(", ")}`,
  allow: listOf(isText),
  ask: listOf(isText),
  deny: listOf(isText),
  sensitivePaths: (value) =>
    value === false || check(value, { reads: listOf(isText), writes: listOf(isText) }, "") === undefined
      ? undefined
      : "must be false, or an object of the lists of patterns reads and writes",
};

/** What is wrong with a policy of a sandbox, if anything: the first member that is not known, or can't have its value. */
export function wrongInPolicy(value: unknown): string | undefined {
  return check(value, POLICY, "") ?? withoutNetworkFlag(value as SandboxPolicy);
}

/** The same of a file that also says what tools may do. */
export function wrongInPolicyFile(value: unknown): string | undefined {
  return check(value, { ...POLICY, permissions: PERMISSIONS }, "") ?? withoutNetworkFlag(value as SandboxPolicy);
}

function withoutNetworkFlag({ network }: SandboxPolicy): string | undefined {
  return network !== undefined && network.enabled === undefined ? '"network.enabled" is missing: say true or false' : undefined;
}

function check(value: unknown, members: Members, of: string): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${of === "" ? "it" : JSON.stringify(of)} is no object`;
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const known = Object.hasOwn(members, name) ? members[name] : undefined;
    const path = of === "" ? name : `${of}.${name}`;
    if (known === undefined) {
      const near = nearestName(name, Object.keys(members));
      return `it has no "${path}"; ${near === undefined ? `there are ${Object.keys(members).join(", ")}` : `did you mean "${near}"?`}`;
    }
    if (typeof known === "function") {
      const problem = known(member);
      if (problem !== undefined) return `"${path}" ${problem}`;
    } else {
      const wrong = check(member, known, path);
      if (wrong !== undefined) return wrong;
    }
  }
  return undefined;
}

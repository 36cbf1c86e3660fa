import { EnvironmentError } from "@keelson/protocol";
import { nearestName } from "../../json/nearest-name.ts";
import { parseHostPattern } from "./network/host-pattern.ts";
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
    protectedPaths: listOf(isInnerPath),
  },
  network: { enabled: isFlag, allowedDomains: listOf(isHost), deniedDomains: listOf(isHost) },
  environment: { pass: listOf(isVariable), set: isVariables },
  resources: { processes: isCount, memory: isSize, fileSize: isSize, openFiles: isCount, cpuSeconds: isCount, temporary: isSize },
  commands: { allowed: listOf(isProgram), denied: listOf(isProgram) },
};

/**
 * Checks what stands in a policy file. A member that is not known is refused: one that was misspelt would protect nothing.
 * @throws EnvironmentError of kind `provision-failed` that names the member and what it may be
 */
export function readSandboxPolicy(value: unknown): SandboxPolicy {
  check(value, POLICY, "");
  const { network } = value as SandboxPolicy;
  if (network !== undefined && network.enabled === undefined) throw refused('"network.enabled" is missing: say true or false');
  return value as SandboxPolicy;
}

function check(value: unknown, members: Members, of: string): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refused(`${of === "" ? "it" : `"${of}"`} is no object`);
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const known = Object.hasOwn(members, name) ? members[name] : undefined;
    const path = of === "" ? name : `${of}.${name}`;
    if (known === undefined) {
      const near = nearestName(name, Object.keys(members));
      throw refused(
        `it has no "${path}"; ${near === undefined ? `there are ${Object.keys(members).join(", ")}` : `did you mean "${near}"?`}`,
      );
    }
    if (typeof known !== "function") check(member, known, path);
    else {
      const wrong = known(member);
      if (wrong !== undefined) throw refused(`"${path}" ${wrong}`);
    }
  }
}

function refused(what: string): EnvironmentError {
  return new EnvironmentError({ kind: "provision-failed", message: `The sandbox policy is not understood: ${what}.` });
}

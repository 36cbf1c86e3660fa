import type { HostVerdict } from "@keelson/protocol";
import type { CompiledPolicy, RuleVerdict } from "../../definition/permissions/compiled-policy.ts";
import { matchesGlob } from "../../definition/permissions/glob.ts";
import { bindsRead, opensFile } from "../../definition/permissions/match-rule.ts";
import { seePath } from "../../definition/permissions/path-pattern.ts";
import { USUAL_PORTS } from "../../../environment/sandbox/network/usual-ports.ts";

/** The verdict of the rules of all policies, and of what people allowed, on a connection to a host. */
export function judgeHost(
  { host, port }: { readonly host: string; readonly port: number },
  {
    policies,
    tool,
    grants,
  }: { readonly policies: readonly CompiledPolicy[]; readonly tool: string; readonly grants: readonly RuleVerdict[] },
): HostVerdict {
  const name = host.toLowerCase();
  const withPort = `${name}:${port}`;
  const names = ({ compiled: { argument, binds, opens } }: RuleVerdict, anyPort: boolean): boolean => {
    if (opens !== "host" && binds?.hosts !== true) return false;
    if (argument === undefined) return opens === "host";
    return ((anyPort || USUAL_PORTS.includes(port)) && matchesGlob(argument, name)) || matchesGlob(argument, withPort);
  };
  if (policies.some((policy) => asksOrDenies(policy).some((rule) => names(rule, true)))) return "denied";
  const isOpen = policies.every((policy) => {
    const { allow } = policy.rulesFor(tool);
    return (policy.mode === "deny-unauthorized" ? allow : [...allow, ...grants]).some(
      (rule) => rule.compiled.opens === "host" && names(rule, false),
    );
  });
  return isOpen && policies.length > 0 ? "open" : "unlisted";

  function asksOrDenies(policy: CompiledPolicy): readonly RuleVerdict[] {
    const { deny, ask } = policy.rulesFor(tool);
    return [...deny, ...ask];
  }
}

/** True if the rules of all policies, or an answer of a person, show a hidden file to every command, and no rule denies or asks about it. */
export function judgeReveal(
  file: string,
  {
    policies,
    tool,
    grants,
  }: { readonly policies: readonly CompiledPolicy[]; readonly tool: string; readonly grants: readonly RuleVerdict[] },
): boolean {
  const path = seePath(file, undefined);
  return (
    policies.length > 0 &&
    policies.every((policy) => {
      const { allow, ask, deny } = policy.rulesFor(tool);
      if ([...ask, ...deny].some((rule) => opensFile(rule.compiled, file) || bindsRead(rule, path))) return false;
      return (policy.mode === "deny-unauthorized" ? allow : [...allow, ...grants]).some((rule) => opensFile(rule.compiled, file));
    })
  );
}

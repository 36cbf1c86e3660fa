import { AgentError, type AlwaysChoice, type PermissionRule } from "@keelson/protocol";
import { checkRulePath } from "./check-rule-path.ts";
import { compileRules, type RuleVerdict } from "./compiled-policy.ts";
import { matchesGlob } from "./glob.ts";
import { compilePermissionRule, REACHING_TOOLS } from "./permission-rule.ts";

const NONE: readonly RuleVerdict[] = [];
const OPTION = "decision.rules";

/** The patterns that an `allow-always` allows: those it names, else the narrowest choice that the question offered. */
export function grantedPatterns(named: readonly string[] | undefined, offered: readonly AlwaysChoice[] | undefined): readonly string[] {
  return named ?? offered?.[0]?.rules ?? [];
}

/**
 * Holds the patterns of an `allow-always` against what a rule must be, and against the tool that was asked about.
 * @throws AgentError of kind `invalid-option` that names the pattern and what to write instead
 */
export function checkGrantedPatterns(patterns: unknown, operation: string): void {
  if (!Array.isArray(patterns))
    throw invalid(`must be a list of patterns such as ["${operation}(…)"], not ${JSON.stringify(patterns) ?? String(patterns)}`);
  for (const pattern of patterns as readonly string[]) {
    const compiled = compilePermissionRule(allowing(pattern), OPTION);
    checkRulePath(compiled, OPTION);
    const { tool } = compiled;
    if (matchesGlob(tool, operation)) continue;
    if (compiled.opens !== undefined) continue;
    if (Object.values(REACHING_TOOLS).some((names) => names.some((name) => matchesGlob(tool, name)))) continue;
    const open = pattern.indexOf("(");
    throw invalid(
      `has ${JSON.stringify(pattern)}, which is about no call of ${operation}, the tool that was asked about. Did you mean ${JSON.stringify(operation + (open < 0 ? "" : pattern.slice(open)))}`,
    );
  }
}

/** What people allowed for good, as allow rules about one tool. @param patterns of the session */
export function grantsFor(patterns: ReadonlySet<string>, toolName: string): readonly RuleVerdict[] {
  if (patterns.size === 0) return NONE;
  // A log may hold what a later version can read: here it allows nothing.
  return compileRules([...patterns].filter(isReadable).map(allowing), "grants")(toolName).allow;
}

function isReadable(pattern: string): boolean {
  try {
    compilePermissionRule(allowing(pattern));
    return true;
  } catch (error) {
    if (AgentError.is(error, "invalid-option")) return false;
    throw error;
  }
}

function allowing(pattern: string): PermissionRule {
  return { pattern, behavior: "allow" };
}

function invalid(problem: string): AgentError {
  return new AgentError({ kind: "invalid-option", option: OPTION, message: `${OPTION} ${problem}.` });
}

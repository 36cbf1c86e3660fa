import type { PermissionRule, Tool } from "@keelson/protocol";
import { nearestName } from "../../../json/nearest-name.ts";
import { invalidOption } from "../invalid-option.ts";
import { checkRulePath } from "./check-rule-path.ts";
import { compileGlob, matchesGlob } from "./glob.ts";
import { INFER } from "./infer-subject.ts";
import { rulesFromClaude } from "./rules-from-claude.ts";
import { aliasesOf } from "../../../tools/find-alias.ts";
import { compilePermissionRule, REACHING_TOOLS } from "./permission-rule.ts";

/** Tools of servers that are connected to later. */
const COMES_LATER = /^mcp(?:__|:)/;

/**
 * Refuses a rule that no call of these tools can ever be about. A pattern with a wildcard may be about tools that come later, so it is refused
 * only where it is plainly about one that is there, in another spelling.
 * @param options.mayBeMore the rules may be about tools of agents that are not known yet: then a rule is refused only where what was meant is there
 * @param options.comesLater sources offer tools that nobody knows yet: then a rule is refused only where it has another spelling, or the name that
 * other agents have, for a tool that is there
 * @throws AgentError of kind `invalid-option` that suggests the right rule
 */
export function checkRuleTools(
  rules: readonly PermissionRule[],
  tools: readonly Pick<Tool, "name" | "aliases" | "effectsOf">[],
  { mayBeMore = false, comesLater = false }: { readonly mayBeMore?: boolean; readonly comesLater?: boolean } = {},
): void {
  const names = tools.map(({ name }) => name);
  const reaching = tools.some((tool) => tool.effectsOf !== undefined) ? Object.values(REACHING_TOOLS).flat() : [];
  const known = [...new Set([...names, ...reaching])];
  for (const [index, rule] of rules.entries()) {
    const option = `permissions.rules[${index}]`;
    const compiled = compilePermissionRule(rule, option);
    checkRulePath(compiled, option);
    const { tool } = compiled;
    if (compiled.opens !== undefined && reaching.length > 0) continue;
    if (matchesGlob(tool, INFER.name) || known.some((name) => matchesGlob(tool, name))) continue;
    const open = rule.pattern.indexOf("(");
    const written = open < 0 ? rule.pattern : rule.pattern.slice(0, open);
    const hasWildcard = tool.literals.length > 1;
    if (!hasWildcard && COMES_LATER.test(written)) continue;
    const meant = hasWildcard || (comesLater && !isForeign(written)) ? inSmallLetters(written, known) : meantBy(written, known, tools);
    if ((hasWildcard || mayBeMore || comesLater) && meant === undefined) continue;
    const advice =
      meant === undefined
        ? `There ${known.length === 0 ? "are no tools" : `are ${known.join(", ")}`}; a pattern with a star may name tools that come later`
        : `Did you mean ${JSON.stringify(patternMeant(rule, meant, open < 0 ? "" : rule.pattern.slice(open)))}`;
    throw invalidOption(
      option,
      `has the pattern ${JSON.stringify(rule.pattern)}, which no call can match: there is no tool ${JSON.stringify(written)}. ${advice}`,
    );
  }
}

/** True for a name that another agent writes with a capital letter: no source offers a tool under it. */
function isForeign(written: string): boolean {
  return aliasesOf(written).some(({ name }) => name === written && /^[A-Z]/.test(name));
}

/** Commands and hosts have a language of their own there; ours says `npm test *` for `npm test:*`. */
function patternMeant({ pattern, behavior }: PermissionRule, tool: string, argument: string): string {
  if (!isForeign(pattern.split("(", 1)[0] ?? "") || (tool !== "bash" && tool !== "web_fetch")) return tool + argument;
  const { rules } = rulesFromClaude({ permissions: { [behavior]: [pattern] } });
  return rules[0]?.pattern ?? tool + argument;
}

function meantBy(written: string, known: readonly string[], tools: readonly Pick<Tool, "name" | "aliases">[]): string | undefined {
  const foreign = aliasesOf(written).find(({ tool }) => known.includes(tool))?.tool;
  if (foreign !== undefined) return foreign;
  const near = nearestName(written, [...known, ...tools.flatMap(({ aliases }) => aliases)]);
  return tools.find(({ aliases }) => near !== undefined && aliases.includes(near))?.name ?? near;
}

function inSmallLetters(written: string, known: readonly string[]): string | undefined {
  const small = written.toLowerCase();
  return known.some((name) => matchesGlob(compileGlob(small), name)) ? small : undefined;
}

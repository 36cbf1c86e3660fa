import { AgentError, type DirectiveFilter } from "@keelson/protocol";

/** @throws AgentError of kind `invalid-option` that names the filter */
export function checkDirectiveFilters(filters: readonly DirectiveFilter[] | undefined): void {
  if (filters === undefined) return;
  if (!Array.isArray(filters)) throw invalid("directiveFilters", "must be a list of filters");
  for (const [index, filter] of (filters as readonly (DirectiveFilter | undefined)[]).entries()) {
    const option = `directiveFilters[${index}]`;
    if (typeof filter?.name !== "string" || filter.name === "") throw invalid(option, "needs a name: it stands in what is refused");
    if (typeof filter.filter !== "function") throw invalid(option, `("${filter.name}") needs a function \`filter\``);
    if (filter.decision !== undefined && typeof filter.decision !== "function")
      throw invalid(option, `("${filter.name}"): \`decision\` must be a function`);
  }
}

function invalid(option: string, problem: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${option} ${problem}.` });
}

import type { Executor } from "@keelson/protocol";

/** Starts programs with these variables; what a request sets itself goes before them. */
export function withVariables(exec: Executor, variables: { readonly [name: string]: string }): Executor {
  return { execute: (request) => exec.execute({ ...request, env: { ...variables, ...request.env } }) };
}

import { registerHooks } from "node:module";

/**
 * Some libraries give their TypeScript where a process has the condition `source`, as tests have it for our own packages; Node does not load that
 * out of `node_modules`.
 */
export async function importCompiled<Module>(name: string): Promise<Module> {
  const hooks = registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier.startsWith("eventsource")
        ? nextResolve(specifier, { ...context, conditions: context.conditions.filter((condition) => condition !== "source") })
        : nextResolve(specifier, context),
  });
  try {
    return (await import(name)) as Module;
  } finally {
    hooks.deregister();
  }
}

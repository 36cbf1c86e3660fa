const warned = new Set<string>();

/** Warns once in this process that a feature works without an optional package, with the consequence, the reason and the remedy. */
export function warnMissingPackage(name: string, consequence: string, cause: unknown): void {
  if (warned.has(name)) return;
  warned.add(name);
  const [reason] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
  process.emitWarning(`${consequence}, because the package ${name} can't be loaded (${reason}). Install it: npm install ${name}`, {
    type: "KeelsonWarning",
  });
}

/** True if an import failed because the package is not installed, and not because it, or what it imports, is broken. */
export function isNotInstalled(cause: unknown, name: string): boolean {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" && String(message).includes(`'${name}'`);
}

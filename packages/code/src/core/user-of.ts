/** The name of the person, by their environment: a claim. `undefined`: it is not known. */
export function userOf(environment: { readonly [name: string]: string | undefined }): string | undefined {
  return environment["USER"] || environment["LOGNAME"] || undefined;
}

/**
 * A README as it is read outside of the repository, where a relative link leads nowhere: it becomes a link into the repository where
 * its address is known, else the words it stood on.
 */
export function registryReadme(text: string, repositoryUrl: string | undefined): string {
  return text.replace(/\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)/g, (_link, words: string, path: string) => {
    if (repositoryUrl !== undefined) return `[${words}](${repositoryUrl.replace(/\/+$/, "")}/blob/main/${path})`;
    return words.includes(path) ? words : `${words} (\`${path}\`)`;
  });
}

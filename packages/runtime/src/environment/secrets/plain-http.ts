/** Whether what is sent there can be read on its way: neither encrypted, nor within this machine. */
export function isPlainHttpElsewhere({ protocol, hostname }: URL): boolean {
  return protocol !== "https:" && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

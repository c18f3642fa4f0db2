/** What the system says with a code, in words; the code stays, for it is what one searches for. */

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the quota is used up',
  EFBIG: 'the file is too large',
  EIO: 'the device failed',
  EISDIR: 'it is a folder',
  ELOOP: 'it is a symbolic link',
  EMFILE: 'too many files are open',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'no space is left',
  ENOTDIR: 'a part of the path is no folder',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/** `no space is left (ENOSPC)`; an unknown code as it is. */
export function systemWords(code: string): string {
  return Object.hasOwn(WORDS, code) ? `${WORDS[code]} (${code})` : code;
}

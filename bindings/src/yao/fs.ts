/** `new FS(volume)`: an object whose methods call `fs.<volume>.<Method>`. */

import type { Kernel } from "../kernel";

const methods = (
  "Exists IsDir IsFile IsLink ReadFile ReadFileBuffer ReadFileBase64 WriteFile WriteFileBuffer WriteFileBase64 " +
  "AppendFile AppendBuffer AppendBase64 InsertFile InsertBuffer InsertBase64 Remove RemoveAll ReadDir Mkdir MkdirAll " +
  "MkdirTemp Chmod BaseName DirName ExtName MimeType Mode Size ModTime Move Copy MoveAppend MoveInsert Abs Zip Unzip Glob"
).split(" ");

export default function (kernel: Kernel) {
  class Volume {
    name: string;
    declare ReadFileBuffer: (path: unknown) => Uint8Array;
    declare MimeType: (path: unknown) => unknown;

    constructor(name: unknown = "system") {
      this.name = String(name);
    }

    /** A reader of a file. `read()` returns all its bytes, `read(size)` the next `size` bytes; at the end they return null. */
    ReadCloser(path: unknown): object {
      let rest: Uint8Array | null = this.ReadFileBuffer(path);
      const read = (size?: number): Uint8Array | null => {
        if (!rest?.length) return null;
        const chunk = rest.subarray(0, size);
        rest = rest.subarray(chunk.length);
        return chunk;
      };
      const close = (): null => (rest = null);
      return { read, Read: read, close, Close: close };
    }

    /** `{type, content}`: the MIME type and a reader. */
    Download(path: unknown): object {
      return { type: this.MimeType(path), content: this.ReadCloser(path) };
    }

    Release(): void {}

    __release(): void {}
  }
  Object.defineProperty(Volume, "name", { value: "FS" });
  for (const method of methods) {
    Object.defineProperty(Volume.prototype, method, {
      value(this: Volume, ...args: unknown[]): unknown {
        return kernel.call(`fs.${this.name}.${method}`, args);
      },
      writable: true,
      configurable: true,
    });
  }
  return { FS: Volume };
}

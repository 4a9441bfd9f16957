/** Shows an attachment as a picture, if its file still exists. */

import { useEffect, useState } from "preact/hooks";
import { visible } from "../format";
import type { Attachment } from "../model";
import { blobOf, runPath } from "./api";

/** Media types that are requested. The server checks the content, and sends only these. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function Picture({ run, at, file }: { run: string; at: number; file: Attachment }) {
  const [url, setUrl] = useState("");
  const source = PICTURES.has(file.media_type ?? "") && file.source?.startsWith("file://") ? file.source : "";
  useEffect(() => {
    if (!source) return;
    let left = false;
    let made = "";
    blobOf(runPath(run, `picture?at=${at}&source=${encodeURIComponent(source)}`)).then((blob) => {
      if (left || blob.size === 0) return; // the file is gone or has changed: its name is shown
      made = URL.createObjectURL(blob);
      setUrl(made);
    }, () => {});
    return () => {
      left = true;
      URL.revokeObjectURL(made);
    };
  }, [run, at, source]);
  return url ? <img class="picture" src={url} alt={visible(file.name ?? source)} /> : null;
}

// A folder that somebody drops or chooses goes to the server as one zip: documents with their content, all other
// files by name only, so that the import counts them. Streamlit would send each file by itself.
const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
  return byte;
});

function checksum(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

// Numbers of two or four bytes, such as [4, 0x04034b50], in the order of the format.
function pack(...fields) {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [size]) => sum + size, 0)));
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value & 0xffff, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return view;
}

async function makeZip(files, endings) {
  const parts = [], directory = [];
  let offset = 0;
  for (const [path, file] of files) {
    const sent = endings.some((ending) => path.toLowerCase().endsWith(ending));
    const content = new Uint8Array(sent ? await file.arrayBuffer() : 0);
    const name = new TextEncoder().encode(path);
    const about = [[2, 20], [2, 0x800], [2, 0], [2, 0], [2, 0x21], [4, checksum(content)],
      [4, content.length], [4, content.length], [2, name.length], [2, 0]];
    parts.push(pack([4, 0x04034b50], ...about), name, content);
    directory.push(pack([4, 0x02014b50], [2, 20], ...about, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]), name);
    offset += 30 + name.length + content.length;
  }
  const size = directory.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const end = pack([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, offset], [2, 0]);
  return [...parts, ...directory, end];
}

async function listFiles(entry, path) {
  if (entry.isFile) return [[path, await new Promise((done, fail) => entry.file(done, fail))]];
  const reader = entry.createReader(), files = [];
  for (;;) {
    const entries = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!entries.length) return files;
    for (const inner of entries) files.push(...(await listFiles(inner, path ? `${path}/${inner.name}` : inner.name)));
  }
}

async function give(input, name, files, endings) {
  const zip = new File(await makeZip(await files, endings), `${name}.zip`, { type: "application/zip" });
  const given = new DataTransfer();
  given.items.add(zip);
  input.files = given.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

export function sendFolder(event, endings) {
  const input = event.target.closest?.(".stFileUploader")?.querySelector("input[type=file]");
  if (!input) return;
  let name, files;
  if (event.type === "drop") {
    const entry = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).find((one) => one?.isDirectory);
    if (!entry) return;
    [name, files] = [entry.name, listFiles(entry, "")];
  } else {
    const chosen = [...input.files];
    if (!chosen[0]?.webkitRelativePath) return;
    name = chosen[0].webkitRelativePath.split("/")[0];
    files = chosen.map((file) => [file.webkitRelativePath.slice(name.length + 1), file]);
  }
  event.preventDefault();
  event.stopImmediatePropagation();
  give(input, name, files, endings);
}

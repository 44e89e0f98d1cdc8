// Copies the pages of the repository to target/pages, as VitePress wants them. The repository stays the only place where pages are written, with
// links that work there; here links to sources become links to the API or to a page with the source.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, posix, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const pages = join(import.meta.dirname, 'target/pages') // below node_modules' folder, so that Vite finds Vue
const languages = { '.java': 'java', '.xml': 'xml', '.jfc': 'xml', '.json': 'json', '': 'text' }
const wanted = new Set()
const images = new Set()

rmSync(pages, { recursive: true, force: true })
for (const page of ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'examples/README.md', 'tests/stress/README.md', ...markdownIn('docs')]) {
  stage(page)
}
for (const file of wanted) {
  sourcePage(file)
}
for (const image of images) {
  cpSync(join(root, image), join(pages, image))
}

function markdownIn(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
}

// README.md is the front page of its folder.
function staged(page) {
  return page.replace(/README\.md$/, 'index.md')
}

function stage(page) {
  const text = readFileSync(join(root, page), 'utf8')
  const parts = text.split(/(^ *```[\s\S]*?^ *```$|`[^`\n]*`)/m) // odd ones are code
  // What looks like Vue's {{ }} is none; code is left alone by VitePress.
  const moved = parts.map((part, i) => (i % 2 ? part : relink(part, page).replaceAll('{{', '&#123;&#123;')))
  write(staged(page), moved.join(''))
}

function relink(text, page) {
  return text.replace(/(\]\()([^)\s]+)(\))/g, (all, open, link, close) => {
    if (/^[a-z]+:|^#/.test(link)) {
      return all
    }
    const [file, anchor] = link.split('#')
    const target = posix.normalize(posix.join(posix.dirname(page), decodeURI(file)))
    return open + address(target, page) + (anchor ? '#' + anchor : '') + close
  })
}

function address(target, page) {
  const here = posix.dirname(staged(page))
  const full = join(root, target)
  if (!existsSync(full)) {
    throw new Error(`${page}: ${target} is not there`)
  }
  if (target.endsWith('.md')) {
    return dot(posix.relative(here, staged(target)))
  }
  if (/\.(png|svg)$/.test(target)) {
    images.add(target)
    return dot(posix.relative(here, target))
  }
  const api = apiOf(target)
  if (api) {
    return api
  }
  wanted.add(target)
  return dot(posix.relative(here, target + (statSync(full).isDirectory() ? '/index.md' : '.md')))
}

function dot(path) {
  return path.startsWith('.') ? path : './' + path
}

// The page of a library's class, if it is a public one of an exported package.
function apiOf(target) {
  const match = /^(.+)\/src\/main\/java\/(.+)\/(\w+)\.java$/.exec(target)
  if (!match || match[1].startsWith('examples') || !existsSync(join(root, match[1], 'src/main/java/module-info.java'))) {
    return null
  }
  const info = readFileSync(join(root, match[1], 'src/main/java/module-info.java'), 'utf8')
  const module = /\bmodule ([\w.]+) \{/.exec(info)[1]
  const exported = info.includes(`exports ${match[2].replaceAll('/', '.')};`)
  const isPublic = /^public /m.test(readFileSync(join(root, target), 'utf8'))
  return exported && isPublic ? `/api/${module}/${match[2]}/${match[3]}.html` : null
}

// A page with a file, or with what is in a folder.
function sourcePage(file) {
  const full = join(root, file)
  if (statSync(full).isDirectory()) {
    const entries = readdirSync(full).filter((name) => name.endsWith('.md') || name.endsWith('.java'))
    const lines = entries.sort().map((name) => {
      if (name.endsWith('.java')) {
        sourcePage(posix.join(file, name))
      }
      return `* [${titleOf(join(full, name), name)}](./${name.endsWith('.md') ? name : name + '.md'})`
    })
    write(posix.join(file, 'index.md'), `# ${basename(file)}\n\n${lines.join('\n')}\n`)
    return
  }
  const text = readFileSync(full, 'utf8')
  const language = languages[extname(file)] ?? 'text'
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map((ticks) => ticks[0].length + 1)))
  write(file + '.md', `---\naside: false\n---\n\n# ${basename(file)}\n\n\`${file}\`\n\n${fence}${language}\n${text}\n${fence}\n`)
}

function titleOf(file, name) {
  return (name.endsWith('.md') && /^# (.*)$/m.exec(readFileSync(file, 'utf8'))?.[1]) || name
}

function write(page, text) {
  const to = join(pages, page)
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, text)
}

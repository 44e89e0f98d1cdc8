import { readFileSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'
import { defineConfig } from 'vitepress'

const root = resolve(import.meta.dirname, '../../..')

// The map of the documentation is docs/index.md; the sidebar is the same, so that it is written once.
function sidebar() {
  const map = readFileSync(join(root, 'docs/index.md'), 'utf8')
  const sections = map.split(/^## /m)
  const groups = [{ text: 'Start', items: [{ text: 'What it is', link: '/' }, { text: 'Documentation', link: '/docs/' },
    { text: 'Tutorial', link: '/docs/tutorial/' }, { text: 'Tutorial in callbacks', link: '/docs/tutorial/callbacks' },
    { text: 'Tutorial in direct style', link: '/docs/tutorial/direct' }, { text: 'Tutorial, the last step', link: '/docs/tutorial/nodes' },
    { text: 'Examples', link: '/examples/' }] }]
  for (const section of sections.slice(1)) {
    const [title] = section.split('\n', 1)
    const items = [...section.matchAll(/\[([^\]]+)\]\(([^)#]+)(?:#[^)]*)?\)/g)]
      .filter(([, , link]) => link.endsWith('.md') && !link.startsWith('..'))
      .map(([, text, link]) => ({ text: capital(text), link: '/' + posix.join('docs', link.replace(/(index)?\.md$/, '')) }))
    groups.push({ text: title, items })
  }
  groups.push({ text: 'Project', items: [{ text: 'API', link: '/api/index.html', target: '_self' }, { text: 'Changelog', link: '/CHANGELOG' },
    { text: 'Contributing', link: '/CONTRIBUTING' }, { text: 'Security', link: '/SECURITY' }] })
  return groups
}

// gRPC stays gRPC.
function capital(text) {
  return /^[a-z][A-Z]/.test(text) ? text : text[0].toUpperCase() + text.slice(1)
}

export default defineConfig({
  title: 'Millrace',
  description: 'An event engine for the JVM',
  lang: 'en',
  srcDir: resolve(import.meta.dirname, '../target/pages'),
  outDir: join(root, 'target/site'),
  cacheDir: resolve(import.meta.dirname, '../target/cache'),
  cleanUrls: false,
  // The API is put beside the pages afterwards.
  ignoreDeadLinks: [/^\/api\//],
  markdown: {
    config(md) {
      const fence = md.renderer.rules.fence
      md.renderer.rules.fence = (tokens, i, options, env, self) =>
        tokens[i].info.trim() === 'mermaid'
          ? `<Diagram code="${encodeURIComponent(tokens[i].content)}" />`
          : fence(tokens, i, options, env, self)
    },
    anchor: { slugify: (text) => text.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-') } // as GitHub does
  },
  themeConfig: {
    nav: [{ text: 'Tutorial', link: '/docs/tutorial/' }, { text: 'Documentation', link: '/docs/' }, { text: 'API', link: '/api/index.html', target: '_self' }],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    footer: { message: 'Apache License 2.0' }
  }
})

"""The pages: each asks the tools and fills a template."""

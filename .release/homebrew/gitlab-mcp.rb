# A release replaces each `sha256:TARGET` by the checksum of the archive of that target (.release/pack.py).
class GitlabMcp < Formula
  desc "All of GitLab for an AI client through two MCP tools: find an action, execute it"
  homepage "https://gitlab.example.com/gitlab-mcp/gitlab-mcp"
  version "0.1.0"
  license "MIT"

  on_macos do
    on_arm do
      url "https://gitlab.example.com/gitlab-mcp/gitlab-mcp/-/releases/v0.1.0/downloads/gitlab-mcp-0.1.0-aarch64-apple-darwin.tar.gz"
      sha256 "sha256:aarch64-apple-darwin"
    end
    on_intel do
      url "https://gitlab.example.com/gitlab-mcp/gitlab-mcp/-/releases/v0.1.0/downloads/gitlab-mcp-0.1.0-x86_64-apple-darwin.tar.gz"
      sha256 "sha256:x86_64-apple-darwin"
    end
  end

  on_linux do
    on_arm do
      url "https://gitlab.example.com/gitlab-mcp/gitlab-mcp/-/releases/v0.1.0/downloads/gitlab-mcp-0.1.0-aarch64-unknown-linux-musl.tar.gz"
      sha256 "sha256:aarch64-unknown-linux-musl"
    end
    on_intel do
      url "https://gitlab.example.com/gitlab-mcp/gitlab-mcp/-/releases/v0.1.0/downloads/gitlab-mcp-0.1.0-x86_64-unknown-linux-musl.tar.gz"
      sha256 "sha256:x86_64-unknown-linux-musl"
    end
  end

  def install
    bin.install "gitlab-mcp"
    generate_completions_from_executable(bin/"gitlab-mcp", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/gitlab-mcp --version")
    assert_match "merge_request.list", shell_output("#{bin}/gitlab-mcp find 'list merge requests'")
  end
end

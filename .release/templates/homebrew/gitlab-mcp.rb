# A release replaces each `sha256:TARGET` by the checksum of the archive of that target (.release/pack.py).
class GitlabMcp < Formula
  desc {{ crate.description | tojson }}
  homepage {{ crate.repository | tojson }}
  version {{ crate.version | tojson }}
  license {{ crate.license | tojson }}
{% for os, name in [["macos", "darwin"], ["linux", "linux"]] %}
  on_{{ os }} do
{%- for cpu, word in [["arm64", "arm"], ["x64", "intel"]] %}
{%- for platform in platforms if platform.os == name and platform.cpu == cpu %}
    on_{{ word }} do
      url "{{ downloads }}/{{ crate.name }}-{{ crate.version }}-{{ platform.target }}.tar.gz"
      sha256 "sha256:{{ platform.target }}"
    end
{%- endfor %}
{%- endfor %}
  end
{% endfor %}
  def install
    bin.install {{ crate.name | tojson }}
    generate_completions_from_executable(bin/{{ crate.name | tojson }}, "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/{{ crate.name }} --version")
    assert_match "merge_request.list", shell_output("#{bin}/{{ crate.name }} find 'list merge requests'")
  end
end
